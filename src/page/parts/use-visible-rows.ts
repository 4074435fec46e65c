/** Tracks which rows of a frame are visible while it is scrolled or resized. */
import type { Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

interface VisibleRows {
  readonly first: Signal<number>
  readonly count: Signal<number>
}

/** Counts whole rows, so that scrolling within one renders nothing. `rowHeight` in pixels. */
export function useVisibleRows(
  place: { readonly current: HTMLElement | null },
  rowHeight: number,
  { first, count }: VisibleRows,
): void {
  useEffect(() => {
    const frame = place.current
    if (!frame) return
    const measure = (): void => {
      first.value = Math.floor(frame.scrollTop / rowHeight)
      count.value = Math.ceil(frame.clientHeight / rowHeight)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(frame)
    frame.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      frame.removeEventListener('scroll', measure)
    }
  }, [rowHeight])
}
