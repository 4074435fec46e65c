/** Short messages about completed actions, each with at most one action, usually its undo. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.js'

interface Toast {
  readonly id: number
  readonly text: string
  readonly action: ToastAction | null
}

interface ToastAction {
  readonly title: string
  readonly act: () => void
}

/** More would cover the content. */
const maxToasts = 4
const shownMs = 6_000
/** Long enough to read the message, decide and press the button. */
const actionShownMs = 12_000

const toasts = signal<readonly Toast[]>([])
let lastId = 0

export function toast(text: string, { undo }: { readonly undo?: () => void } = {}): void {
  offer(text, undo ? { title: 'Undo', act: undo } : null)
}

export function offer(text: string, action: ToastAction | null): void {
  const one: Toast = { id: ++lastId, text, action }
  toasts.value = [...toasts.value, one].slice(-maxToasts)
  setTimeout(
    () => {
      drop(one)
    },
    action ? actionShownMs : shownMs,
  )
}

/** Mounted places for toasts, the newest last. It shows all toasts: behind an open dialog nothing can be pressed or is read aloud. */
const places = signal<readonly object[]>([])

export function Toasts() {
  const place = useRef({}).current
  useLayoutEffect(() => {
    places.value = [...places.peek(), place]
    return () => {
      places.value = places.peek().filter((one) => one !== place)
    }
  }, [])
  const shown = places.value.at(-1) === place ? toasts.value : []
  return (
    <div class="toasts" role="status">
      {shown.map((one) => (
        <div class="toast" key={one.id}>
          <span class="toast-text">{one.text}</span>
          {one.action && (
            <Button
              onClick={() => {
                drop(one)
                one.action?.act()
              }}
            >
              {one.action.title}
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

/** An undo belongs to the user who was logged in. */
export function forgetToasts(): void {
  toasts.value = []
}

function drop(one: Toast): void {
  toasts.value = toasts.value.filter(({ id }) => id !== one.id)
}
