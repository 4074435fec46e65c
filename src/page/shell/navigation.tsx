/** Links to every view, the logged-in user, and the logout. */
import { Link, useLocation } from 'wouter-preact'
import { Button } from '../parts/button.js'
import { Icon, Logo } from '../parts/icon.js'
import { logOut } from '../session/access.js'
import { isReadOnly, readWho } from '../session/rights.js'
import { listViews } from './find-view.js'
import { chooseTheme, theme, themes } from './theme.js'

const themeIcons = { system: 'system', light: 'sun', dark: 'moon' } as const

export function Navigation({ onGo }: { readonly onGo?: () => void }) {
  const [path] = useLocation()
  const who = readWho()
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
  return (
    <nav class="navigation" aria-label="Main">
      <Link href="/" class="navigation-home" onClick={onGo}>
        <Logo /> cachefleet
      </Link>
      <div class="navigation-views">
        {listViews().map(
          ({ path: to, menu }) =>
            menu && (
              <Link
                key={to}
                href={to}
                class="navigation-view"
                aria-current={path === to || path.startsWith(`${to}/`) ? 'page' : undefined}
                onClick={onGo}
              >
                <Icon name={menu.icon} />
                {menu.title}
              </Link>
            ),
        )}
      </div>
      <div class="navigation-foot">
        <div class="navigation-who">
          <span class="navigation-name">{who?.account.name}</span>
          <span class="navigation-organization">
            {who?.organization?.name ?? 'System administrator'}
          </span>
          {isReadOnly() && (
            <span class="navigation-read-only" title="Your permissions are to read, not to change">
              Read-only
            </span>
          )}
        </div>
        <Button
          kind="quiet"
          icon={themeIcons[theme.value]}
          label={`Theme: ${theme.value}; change to ${next}`}
          onClick={() => {
            chooseTheme(next)
          }}
        />
        <Button kind="quiet" icon="leave" label="Log out" onClick={() => void logOut()} />
      </div>
    </nav>
  )
}
