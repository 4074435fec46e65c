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
  // As a reference: effects come after it, and there the fields in it ask for the focus.
  const open = useCallback((dialog: HTMLDialogElement | null) => {
    place.current = dialog
    dialog?.showModal()
  }, [])
  // It gives the focus back, which nothing behind it can take while it is open.
  useLayoutEffect(
    () => () => {
      place.current?.close()
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
