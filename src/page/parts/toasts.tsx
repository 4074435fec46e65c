/** Short words about what was done, with a way back where there is one. */
import { signal } from '@preact/signals'
import { Button } from './button.js'

interface Toast {
  readonly id: number
  readonly text: string
  readonly undo: (() => void) | undefined
}

/** Chosen by us: more would cover what they are about. */
const toastsMost = 4
const shownMs = 6_000
/** Somebody has to read it, decide and reach the button. */
const undoShownMs = 12_000

const toasts = signal<readonly Toast[]>([])
let lastId = 0

export function toast(text: string, options: { readonly undo?: () => void } = {}): void {
  const one: Toast = { id: ++lastId, text, undo: options.undo }
  toasts.value = [...toasts.value, one].slice(-toastsMost)
  setTimeout(
    () => {
      drop(one)
    },
    one.undo ? undoShownMs : shownMs,
  )
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map((one) => (
        <div class="toast" key={one.id}>
          <span class="toast-text">{one.text}</span>
          {one.undo && (
            <Button
              onClick={() => {
                drop(one)
                one.undo?.()
              }}
            >
              Undo
            </Button>
          )}
          <Button
            kind="quiet"
            icon="close"
            label="Close"
            onClick={() => {
              drop(one)
            }}
          />
        </div>
      ))}
    </div>
  )
}

function drop(one: Toast): void {
  toasts.value = toasts.value.filter(({ id }) => id !== one.id)
}
