/** Shortcuts that work on the whole page, and their list. They are inactive while the user types or a dialog is open. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

export interface Key {
  /** The value of `KeyboardEvent.key`. */
  readonly key: string
  readonly title: string
  readonly act: () => void
}

export const keys = signal<readonly Key[]>([])

/** Registers the key while the component is mounted; of two registrations for one key the later one wins. */
export function useKey(key: string, title: string, act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  // In a layout effect, before the paint, so that a visible action's key works at once.
  useLayoutEffect(() => {
    const one: Key = {
      key,
      title,
      act: () => {
        latest.current()
      },
    }
    keys.value = [...keys.value, one]
    return () => {
      keys.value = keys.value.filter((other) => other !== one)
    }
  }, [key, title])
}

export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    // Also covers a target inside a shadow root, such as the editor's.
    if (isTyping(event.composedPath()[0]) || document.querySelector('dialog[open]')) return
    const found = keys.value.findLast(({ key }) => key === event.key)
    if (!found) return
    event.preventDefault()
    found.act()
  })
}

function isTyping(target: EventTarget | undefined): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
