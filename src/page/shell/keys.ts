/** Keys that do something on the whole page, and the list of them. They are inactive while somebody types or a dialog is open. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

export interface Key {
  /** As in `KeyboardEvent.key`. */
  readonly key: string
  readonly title: string
  readonly act: () => void
}

export const keys = signal<readonly Key[]>([])

/** While the component is shown; of two with the same key the later one counts. */
export function useKey(key: string, title: string, act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  // Before it is painted: what is seen can be pressed.
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
    // Also inside of a shadow root: an editor's.
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
