/** A dialog over the page: focus goes in, stays in and comes back; Escape closes it. */
import type { ComponentChildren } from 'preact'
import { useCallback, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.js'
import { Toasts } from './toasts.js'

export interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose: () => void
  /** For tables and editors. */
  readonly isWide?: boolean
}

export function Dialog({ title, children, onClose, isWide = false }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const before = useRef<Element | null>(null)
  // As a reference: effects come after it, and there the fields in it ask for the focus.
  const open = useCallback((dialog: HTMLDialogElement | null) => {
    place.current = dialog
    if (!dialog) return
    before.current = document.activeElement
    dialog.showModal()
  }, [])
  useLayoutEffect(
    () => () => {
      const focused = document.activeElement
      // Closed by its key it has given the focus back already, and somebody may be elsewhere by now.
      const isHere = focused === document.body || place.current?.contains(focused)
      if (isHere && before.current instanceof HTMLElement) before.current.focus()
    },
    [],
  )
  return (
    <dialog
      class={`dialog${isWide ? ' dialog-wide' : ''}`}
      ref={open}
      aria-labelledby={titleId}
      // `close` comes with the next frame only, when the address may lead to another dialog already, which it would close as well.
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        if (place.current) onClose()
      }}
    >
      <header class="dialog-head">
        <h2 class="dialog-title" id={titleId}>
          {title}
        </h2>
        <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
      </header>
      {children}
      <Toasts />
    </dialog>
  )
}
