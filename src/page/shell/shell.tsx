/** The frame around every view: navigation, search, and dialogs. */
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

/** The router must not handle a link within the page. */
function skipTo(event: Event): void {
  event.preventDefault()
  focusView()
}

/** Moves the focus to a new view, for users of keyboards and screen readers. */
function useFocusOnArrival(): void {
  const [path] = useLocation()
  const before = useRef(path)
  const focused = document.activeElement
  useLayoutEffect(() => {
    const now = document.activeElement
    // Keeps the focus if a field of the new view took it; a dialog that led here restores it to an element outside the view.
    const isInView = document.getElementById(viewId)?.contains(now) === true
    if (before.current !== path && (now === focused || !isInView)) focusView()
    before.current = path
  }, [path])
}

/** The shown data stays, greyed out and with its age, until the coordinator is reachable again. */
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
  // During an outage the note below reports it.
  const state = awaySince.value === null ? liveState.value : 'idle'
  return (
    <span class={`live live-${state}`} role="status">
      {words[state]}
    </span>
  )
}

/** The navigation on a narrow screen. */
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
