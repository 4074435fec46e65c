/** Shared by the administration views: the head with links to the other views, and columns. */
import { useLayoutEffect } from 'preact/hooks'
import type { PermissionType } from '../../../resources/permission.js'
import { stateColumn } from '../../parts/columns.js'
import { Sections } from '../../parts/sections.js'
import type { Column } from '../../parts/table.js'
import { Time, toIso } from '../../parts/time.js'
import { ViewHead, type ViewHeadProps } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'

export function AdministrationHead(props: ViewHeadProps) {
  // On a narrow screen the links scroll sideways, and each view renders them anew.
  useLayoutEffect(() => {
    document
      .querySelector('.sections [aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [])
  return (
    <>
      <ViewHead {...props} />
      <Sections label="Administration" items={sections.filter(({ needs }) => isOpen(needs))} />
    </>
  )
}

const sections: readonly {
  readonly href: string
  readonly title: string
  readonly needs: PermissionType | null
}[] = [
  { href: '/administration', title: 'Your account', needs: null },
  { href: '/administration/organizations', title: 'Organizations', needs: 'org' },
  { href: '/administration/accounts', title: 'Accounts', needs: 'account' },
  { href: '/administration/users', title: 'Users', needs: 'account' },
  { href: '/administration/sessions', title: 'Sessions', needs: 'session' },
  { href: '/administration/tokens', title: 'API tokens', needs: 'session' },
  { href: '/administration/providers', title: 'Identity providers', needs: 'idp' },
  { href: '/administration/webhooks', title: 'Webhooks', needs: 'webhook' },
  { href: '/administration/join-tokens', title: 'Join tokens', needs: 'agent' },
  { href: '/administration/api-log', title: 'API log', needs: 'apilog' },
]

/** Join tokens are listed only for users who may create them. */
function isOpen(needs: PermissionType | null): boolean {
  return needs === null || (needs === 'agent' ? mayWrite(needs) : mayRead(needs))
}

/** For accounts and organizations. */
export function lockedColumn<T extends { readonly locked: boolean }>(): Column<T> {
  return stateColumn('State', ({ locked }) => (locked ? 'Locked' : 'Open'), {
    toneOf: ({ locked }) => (locked ? 'warn' : 'good'),
    width: '7.5rem',
    sortBy: ({ locked }) => Number(locked),
  })
}

/** Seconds since 1970; null: never. */
export function endColumn<T>(
  title: string,
  endOf: (row: T) => number | null,
  shape: Pick<Column<T>, 'from'>,
): Column<T> {
  return {
    title,
    width: '15rem',
    sortBy: (row) => endOf(row) ?? Infinity,
    ...shape,
    show: (row) => {
      const end = endOf(row)
      return end === null ? 'Never' : <Time at={toIso(end)} />
    },
  }
}
