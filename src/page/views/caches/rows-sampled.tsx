/**
 * The counters of the caches with visible rows, every second. Cells register themselves; shortly after scrolling
 * stops, exactly these caches are subscribed to, and none while the window is hidden. A sample redraws its two
 * cells, not the table. Until its first sample, a cell shows the newest rate read for all caches.
 */
import { batch, computed, signal, useComputed, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import { awaySince } from '../../api/connection.js'
import type { Sample } from '../../api/live-event.js'
import { useSamples } from '../../api/samples.js'
import { formatRate, formatShare, unknown } from '../../parts/quantity.js'
import { now } from '../../parts/time.js'
import { isAway } from './judge-cache.js'
import { addSample, loadHistories } from './row-histories.js'
import { toShare, type Rates } from './sort-caches.js'

/** Waits for scrolling to stop. */
const settleMs = 400
/** After this time without samples, the last sample of a cache no longer counts as current. */
const staleMs = 20_000

interface TimedRates {
  readonly rates: Rates
  /** By the browser's clock. */
  readonly atMs: number
}

type Cache = Pick<Agent, 'id' | 'state'>

/** The number of visible cells of each cache. */
const cells = new Map<number, number>()
const drawn = signal<readonly number[]>([])
const isHidden = signal(false)
const asked = computed(() => (isHidden.value ? none : drawn.value))
const none: readonly number[] = []
const samples = new Map<number, Signal<TimedRates | null>>()
const known = signal<ReadonlyMap<number, Rates> | null>(null)
let settling: ReturnType<typeof setTimeout> | undefined

/** Used once beside the table; renders nothing. `rates`: the newest rates of all caches, if read. */
export function SampleRows({ rates }: { readonly rates: ReadonlyMap<number, Rates> | null }) {
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
    const abort = new AbortController()
    void loadHistories(asked.value, abort.signal) // never rejects
    return () => {
      abort.abort()
    }
  }, [asked.value])
  useEffect(() => {
    known.value = rates
  }, [rates])
  useEffect(() => {
    batch(() => {
      for (const [id, sample] of newest) show(id, sample)
    })
  }, [newest])
  return null
}

function show(id: number, sample: Sample): void {
  const place = samples.get(id)
  const atMs = Date.now()
  if (place) place.value = { rates: readRates(sample), atMs }
  addSample(sample, atMs / 1000)
}

function readRates({ values }: Sample): Rates {
  return {
    requests: values['MAIN.client_req'] ?? null,
    hitRatio: toShare(values['MAIN.cache_hit'] ?? null, values['MAIN.cache_miss'] ?? null),
  }
}

export function HitRatio({ of }: { readonly of: Cache }) {
  const text = useCellText(of, ({ hitRatio }) => formatShare(hitRatio, 1))
  return <>{text}</>
}

export function RequestRate({ of }: { readonly of: Cache }) {
  const text = useCellText(of, ({ requests }) => formatRate(requests))
  return <>{text}</>
}

function useCellText(of: Cache, format: (rates: Rates) => string) {
  const { id } = of
  const isGone = isAway(of)
  const sample = useSample(id)
  return useComputed(() => {
    const rates = isGone ? null : findNewest(sample.value, known.value?.get(id))
    return rates ? format(rates) : unknown
  })
}

/** While the coordinator is unreachable, the last sample stays, in grey with its age. */
function findNewest(sample: TimedRates | null, before: Rates | undefined): Rates | null {
  if (!sample) return before ?? null
  const isStale = awaySince.value === null && now.value - sample.atMs > staleMs
  return isStale ? null : sample.rates
}

function useSample(id: number): Signal<TimedRates | null> {
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

function placeOf(id: number): Signal<TimedRates | null> {
  const place = samples.get(id) ?? signal<TimedRates | null>(null)
  samples.set(id, place)
  return place
}

function settle(): void {
  clearTimeout(settling)
  settling = setTimeout(() => {
    // Samples of cells no longer visible would be outdated when shown again.
    for (const id of samples.keys()) if (!cells.has(id)) samples.delete(id)
    const ids = [...cells.keys()].sort((a, b) => a - b)
    if (ids.join() !== drawn.peek().join()) drawn.value = ids
  }, settleMs)
}
