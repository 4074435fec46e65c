/** The rates of all caches, visible or not: one call for all, repeated while they are shown. */
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import type { NewestStats } from '../../api/newest-stats.js'
import { countersOfRates, toRates, type Rates } from './sort-caches.js'

interface ReadRates {
  /** By the cache's id; null: not read yet. */
  readonly rates: ReadonlyMap<number, Rates> | null
  readonly error: CallError | null
}

/** The default interval of samples; rows do not change places more often. */
const rereadMs = 10_000

export function useRates(isWanted: boolean): ReadRates {
  const path = `/stats?counters=${countersOfRates.join(',')}`
  const ask = async (signal: AbortSignal, { rates }: ReadRates): Promise<ReadRates> => {
    const outcome = await call<NewestStats>('GET', path, { signal })
    return outcome.ok
      ? { rates: toRates(outcome.value), error: null }
      : { rates, error: outcome.error }
  }
  return useAnswer(isWanted ? path : null, nothing, ask, { repeatMs: rereadMs })
}

const nothing: ReadRates = { rates: null, error: null }
