/** What stands around every view: navigation, search, and what may come over it. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { awaySince } from '../api/connection.js'
import { liveState } from '../api/live.js'
import { Button } from '../parts/button.js'
import { Confirmation } from '../parts/confirm.js'
import { focusView, viewId } from '../parts/focus-view.js'
import { toIso, Time } from '../parts/time.js'
import { Toasts } from '../parts/toasts.js'
import { useDialog } from '../parts/use-dialog.js'
import { useKey } from './keys.js'
import { KeysHelp } from './keys-help.js'
import { Navigation } from './navigation.js'
import { Outlet } from './outlet.js'
import { SearchBox } from './search-box.js'
import { useCommands } from './use-commands.js'

export function Shell() {
  const help = useDialog<true>()
  const drawer = useDialog<true>()
  const commands = useCommands()
  useFocusOnArrival()
  useKey('?', 'What the keys do', () => {
    help.open(true)
  })
  return (
    <div class={`shell${awaySince.value === null ? '' : ' shell-stale'}`}>
      <a class="shell-skip" href={`#${viewId}`} onClick={skipTo}>
        Skip to the content
      </a>
      <div class="shell-side">
        <Navigation />
      </div>
      <header>
        <div class="shell-head">
          <span class="shell-menu">
            <Button
              kind="quiet"
              icon="menu"
              label="Menu"
              expanded={drawer.subject ?? false}
              onClick={() => {
                drawer.open(true)
              }}
            />
          </span>
          <SearchBox />
          <Button
            kind="quiet"
            icon="command"
            label="Search and commands (Ctrl+K)"
            onClick={commands.open}
          />
          <LiveStatus />
          <Button
            kind="quiet"
            icon="help"
            label="Keys"
            onClick={() => {
              help.open(true)
            }}
          />
        </div>
        <AwayNote />
      </header>
      <main class="shell-main" id={viewId} tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
      {drawer.subject && <Drawer onClose={drawer.close} />}
      {commands.dialog}
      {help.subject && <KeysHelp onClose={help.close} />}
      <Confirmation />
    </div>
  )
}

/** A link to a place in the page is none of the router's. */
function skipTo(event: Event): void {
  event.preventDefault()
  focusView()
}

/** Who uses keys or a screen reader goes on in the new view, not where the old one was left. */
function useFocusOnArrival(): void {
  const [path] = useLocation()
  const before = useRef(path)
  const focused = document.activeElement
  useLayoutEffect(() => {
    const now = document.activeElement
    // A field of the new view may have asked for it; a dialog that led here gave it back to what is outside.
    const isInView = document.getElementById(viewId)?.contains(now) === true
    if (before.current !== path && (now === focused || !isInView)) focusView()
    before.current = path
  }, [path])
}

/** What is shown stays, in grey and with its age, until the coordinator is back. */
function AwayNote() {
  const at = awaySince.value
  return (
    <div role="status">
      {at !== null && (
        <p class="shell-away tone-warn">
          <strong>Can't reach the coordinator. Retrying. Your caches keep serving.</strong>
          <span>
            Last update: <Time at={toIso(at / 1000)} isAgo />
          </span>
        </p>
      )}
    </div>
  )
}

function LiveStatus() {
  const words = { idle: '', live: 'Live', broken: 'Reconnecting' }
  // The note below says it.
  const state = awaySince.value === null ? liveState.value : 'idle'
  return (
    <span class={`live live-${state}`} role="status">
      {words[state]}
    </span>
  )
}

/** The navigation of a narrow screen. */
function Drawer({ onClose }: { readonly onClose: () => void }) {
  const place = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    place.current?.showModal()
  }, [])
  return (
    <dialog
      class="drawer"
      ref={place}
      aria-label="Menu"
      onClose={onClose}
      onClick={({ target }) => {
        if (target === place.current) onClose()
      }}
    >
      <Navigation onGo={onClose} />
    </dialog>
  )
}
