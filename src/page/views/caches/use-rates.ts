/** The rates of all caches, visible or not: one call for all, repeated while rates are shown or sorted by. */
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import type { NewestStats } from '../../api/newest-stats.js'
import { countersOfRates, toRates, type Rates } from './sort-caches.js'

interface ReadRates {
  /** By cache id; null: not read yet. */
  readonly rates: ReadonlyMap<number, Rates> | null
  readonly error: CallError | null
}

/** The default interval of samples; rows change their order, and tiles their size, no more often. */
const rereadMs = 10_000

/** If not followed, read once, so that rows show known rates until their own samples arrive. */
export function useRates(isWanted: boolean, isFollowed: boolean): ReadRates {
  const path = `/stats?counters=${countersOfRates.join(',')}`
  const ask = async (signal: AbortSignal, { rates }: ReadRates): Promise<ReadRates> => {
    const outcome = await call<NewestStats>('GET', path, { signal })
    return outcome.ok
      ? { rates: toRates(outcome.value), error: null }
      : { rates, error: outcome.error }
  }
  // A change of `isFollowed` repeats the call.
  const key = isWanted ? `${path} ${isFollowed}` : null
  return useAnswer(key, nothing, ask, { repeatMs: isFollowed ? rereadMs : undefined })
}

const nothing: ReadRates = { rates: null, error: null }
