/** Short messages about what was done, with one action: usually its undo. */
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

/** More would cover what they are about. */
const toastsMost = 4
const shownMs = 6_000
/** Long enough to read it, decide and reach the button. */
const actionShownMs = 12_000

const toasts = signal<readonly Toast[]>([])
let lastId = 0

export function toast(text: string, { undo }: { readonly undo?: () => void } = {}): void {
  offer(text, undo ? { title: 'Undo', act: undo } : null)
}

export function offer(text: string, action: ToastAction | null): void {
  const one: Toast = { id: ++lastId, text, action }
  toasts.value = [...toasts.value, one].slice(-toastsMost)
  setTimeout(
    () => {
      drop(one)
    },
    action ? actionShownMs : shownMs,
  )
}

/** Where they may stand, the newest last. It has them all: behind an open dialog nothing is pressed or read aloud. */
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

/** The way back is of who was logged in. */
export function forgetToasts(): void {
  toasts.value = []
}

function drop(one: Toast): void {
  toasts.value = toasts.value.filter(({ id }) => id !== one.id)
}
