/** A dialog over the page: focus goes in, stays in and comes back; Escape closes it. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
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
  // Before the fields in it ask for the focus.
  useLayoutEffect(() => {
    const before = document.activeElement
    place.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      class={`dialog${isWide ? ' dialog-wide' : ''}`}
      ref={place}
      aria-labelledby={titleId}
      onClose={onClose}
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
