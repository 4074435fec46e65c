/** Whether a dialog is open, and what it is about. */
import { useSignal } from '@preact/signals'

interface DialogState<T> {
  /** Null: it is closed. */
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
