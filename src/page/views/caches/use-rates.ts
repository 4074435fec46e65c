/** What all caches do, also those out of sight: one reading for all, again and again while somebody wants it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import type { NewestStats } from '../../api/newest-stats.js'
import { countersOfRates, toRates, type Rates } from './sort-caches.js'

interface ReadRates {
  /** By the cache's id; null: not read yet. */
  readonly rates: ReadonlyMap<number, Rates> | null
  readonly error: CallError | null
}

/** Chosen by us: the interval of samples unless it was set; rows do not change places oftener. */
const rereadMs = 10_000

export function useRates(isWanted: boolean): ReadRates {
  const state = useSignal<ReadRates>(nothing)
  useEffect(() => {
    if (!isWanted) return
    const abort = new AbortController()
    let next: ReturnType<typeof setTimeout> | undefined
    const read = async (): Promise<void> => {
      // Nobody looks at it: the next reading is enough.
      const isIdle = document.hidden && state.peek().rates !== null
      const outcome = isIdle ? null : await ask(abort.signal)
      if (abort.signal.aborted) return
      if (outcome?.ok) state.value = { rates: toRates(outcome.value), error: null }
      else if (outcome) state.value = { ...state.peek(), error: outcome.error }
      next = setTimeout(() => void read(), rereadMs)
    }
    void read() // never rejects
    return () => {
      abort.abort()
      clearTimeout(next)
      state.value = nothing
    }
  }, [isWanted])
  return state.value
}

function ask(signal: AbortSignal) {
  return call<NewestStats>('GET', `/stats?counters=${countersOfRates.join(',')}`, { signal })
}

const nothing: ReadRates = { rates: null, error: null }
