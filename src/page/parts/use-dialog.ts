/** State of a dialog: open or closed, and its subject. */
import { useSignal } from '@preact/signals'

interface DialogState<T> {
  /** Null: the dialog is closed. */
  readonly subject: T | null
  readonly open: (subject: T) => void
  readonly close: () => void
}

export function useDialog<T>(): DialogState<T> {
  const subject = useSignal<T | null>(null)
  return {
    subject: subject.value,
    open: (next) => {
      subject.value = next
    },
    close: () => {
      subject.value = null
    },
  }
}
