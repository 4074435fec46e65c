/**
 * Computes events per second from two readings of a cache's counters. Whatever restarts in between (cache, child, agent,
 * a VCL), no rate is negative or invented: unknown rates are null.
 */
import { kindOfCounter, resolveCounter } from '../../resources/counters.js'

export interface CounterReading {
  /** From a monotonic clock, in milliseconds: the host's time may jump. */
  readonly atMs: number
  /** Changes with each life of the manager or the child: its counters then began at zero. */
  readonly lives: { readonly manager: string; readonly child: string }
  /** If true, a counter that is missing here and present in the next reading began at zero in between. */
  readonly isComplete: boolean
  /** By the cache's own names, exact; without bitmaps. */
  readonly values: ReadonlyMap<string, bigint>
}

/** The usual counters and five for each of 40 backends; with more backends the last ones by name are left out. */
export const counterLimit = 250

/**
 * By current name, sorted: events per second for a counter, the level for a gauge. The counters of one backend in several
 * VCLs are summed. In a first reading (`before` null) counters are unknown.
 */
export function computeRates(
  before: CounterReading | null,
  now: CounterReading,
  limit = counterLimit,
): ReadonlyMap<string, number | null> {
  const seconds = before === null ? 0 : (now.atMs - before.atMs) / 1000
  const sums = new Map<string, number | null>()
  for (const [name, value] of now.values) {
    const series = resolveCounter(name)
    if (series === null) continue
    const part =
      kindOfCounter(series) === 'gauge'
        ? Number(toLevel(value))
        : perSecond(before, now, { name, seconds })
    const sum = sums.get(series)
    sums.set(series, sum === null || part === null ? null : (sum ?? 0) + part)
  }
  return keepFirst(sums, limit)
}

/** How much a counter of `now` grew since `before`; null if unknown. */
export function countSince(
  before: CounterReading | null,
  now: CounterReading,
  name: string,
): bigint | null {
  const life = name.startsWith('MGT.') ? 'manager' : 'child'
  if (before === null || before.lives[life] !== now.lives[life]) return null
  const value = now.values.get(name) ?? 0n
  const earlier = before.values.get(name)
  if (earlier === undefined) return before.isComplete ? value : null
  return value < earlier ? null : value - earlier
}

/** Sorted by name, which puts backends late: the same series are left out in every reading. */
export function keepFirst<T>(
  series: ReadonlyMap<string, T>,
  limit: number,
): ReadonlyMap<string, T> {
  return new Map([...series].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit))
}

/** A gauge that was briefly below zero counts as zero. */
export function toLevel(value: bigint): bigint {
  return BigInt.asIntN(64, value) < 0n ? 0n : value
}

function perSecond(
  before: CounterReading | null,
  now: CounterReading,
  { name, seconds }: { readonly name: string; readonly seconds: number },
): number | null {
  const count = seconds > 0 ? countSince(before, now, name) : null
  return count === null ? null : Number(count) / seconds
}
