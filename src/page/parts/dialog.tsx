/** A modal dialog: moves the focus in, keeps it in and restores it; Escape closes it. */
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
  // In a ref, which runs before the effects in which the fields inside request the focus.
  const open = useCallback((dialog: HTMLDialogElement | null) => {
    place.current = dialog
    dialog?.showModal()
  }, [])
  // Closing restores the focus, which nothing behind an open dialog can take.
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
      // `close` fires only in the next frame, when the address may already show another dialog, which it would close too.
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
