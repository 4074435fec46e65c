/**
 * Counters that only grow, for readers that compute rates themselves (Prometheus). A backend's counters are summed over its VCLs
 * from the first reading on: the cache drops them with a VCL, which would look like a restart.
 */
import {
  counterLimit,
  countSince,
  keepFirst,
  toLevel,
  type CounterReading,
} from './counter-rates.js'
import { kindOfCounter, resolveCounter } from '../../resources/counters.js'

export interface CounterTotals {
  readonly reading: CounterReading
  /** By current name, sorted. */
  readonly totals: ReadonlyMap<string, bigint>
}

export function addReading(
  before: CounterTotals | null,
  reading: CounterReading,
  limit = counterLimit,
): CounterTotals {
  const sums = new Map<string, bigint>()
  for (const [name, value] of reading.values) {
    const series = resolveCounter(name)
    if (series === null) continue
    if (kindOfCounter(series) === 'gauge')
      sums.set(series, (sums.get(series) ?? 0n) + toLevel(value))
    else if (series.startsWith('VBE.')) {
      const sum = sums.get(series) ?? before?.totals.get(series) ?? 0n
      sums.set(series, sum + countNew(before?.reading ?? null, reading, name))
    } else sums.set(series, value)
  }
  return { reading, totals: keepFirst(sums, limit) }
}

/** Since the previous reading; if the child has restarted, since its start. */
function countNew(before: CounterReading | null, now: CounterReading, name: string): bigint {
  const isOther = before !== null && before.lives.child !== now.lives.child
  if (isOther && now.isComplete) return now.values.get(name) ?? 0n
  return countSince(before, now, name) ?? 0n
}
