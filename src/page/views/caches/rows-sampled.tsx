/**
 * The counters of the caches whose rows are drawn, each second. Cells register themselves; when no row has been
 * scrolled for a moment exactly these are subscribed to, and for none while the window is hidden. A sample draws
 * its two cells, not the table.
 */
import { batch, computed, signal, useComputed, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Sample } from '../../api/live-event.js'
import { useSamples } from '../../api/samples.js'
import { formatRate, formatShare } from '../../parts/quantity.js'

/** Nobody reads while scrolling. */
const settleMs = 400

/** How many cells of each cache are drawn. */
const cells = new Map<number, number>()
const drawn = signal<readonly number[]>([])
const isHidden = signal(false)
const asked = computed(() => (isHidden.value ? none : drawn.value))
const none: readonly number[] = []
const samples = new Map<number, Signal<Sample | null>>()
let settling: ReturnType<typeof setTimeout> | undefined

/** Stands once beside the table; draws nothing. */
export function SampleRows() {
  const newest = useSamples(asked.value)
  useEffect(() => {
    const update = (): void => {
      isHidden.value = document.hidden
    }
    update()
    document.addEventListener('visibilitychange', update)
    return () => {
      document.removeEventListener('visibilitychange', update)
    }
  }, [])
  useEffect(() => {
    batch(() => {
      for (const [id, sample] of newest) {
        const place = samples.get(id)
        if (place) place.value = sample
      }
    })
  }, [newest])
  return null
}

export function HitRatio({ id }: { readonly id: number }) {
  const sample = useSample(id)
  return <>{useComputed(() => formatHitRatio(sample.value))}</>
}

export function RequestRate({ id }: { readonly id: number }) {
  const sample = useSample(id)
  return <>{useComputed(() => formatRate(sample.value?.values['MAIN.client_req']))}</>
}

function formatHitRatio(sample: Sample | null): string {
  const hits = sample?.values['MAIN.cache_hit']
  const misses = sample?.values['MAIN.cache_miss']
  return formatShare(hits, hits == null || misses == null ? null : hits + misses)
}

function useSample(id: number): Signal<Sample | null> {
  useEffect(() => {
    cells.set(id, (cells.get(id) ?? 0) + 1)
    settle()
    return () => {
      const left = (cells.get(id) ?? 1) - 1
      if (left > 0) cells.set(id, left)
      else cells.delete(id)
      settle()
    }
  }, [id])
  return placeOf(id)
}

function placeOf(id: number): Signal<Sample | null> {
  const known = samples.get(id)
  if (known) return known
  const place = signal<Sample | null>(null)
  samples.set(id, place)
  return place
}

function settle(): void {
  clearTimeout(settling)
  settling = setTimeout(() => {
    // What is not drawn any more would be old when it is again.
    for (const id of samples.keys()) if (!cells.has(id)) samples.delete(id)
    const ids = [...cells.keys()].sort((a, b) => a - b)
    if (ids.join() !== drawn.peek().join()) drawn.value = ids
  }, settleMs)
}
