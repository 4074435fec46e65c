/**
 * From two readings of a cache's counters to what happened in a second. Whatever restarts in between (cache, child, agent,
 * a VCL), no rate is negative and none is invented: what is not known is null.
 */
import { kindOfCounter, resolveCounter } from '../../resources/counters.js'

export interface CounterReading {
  /** Of a clock that only goes forward, in milliseconds: the host's time may step. */
  readonly atMs: number
  /** Another life of the manager or the child is another word: its counters began at zero. */
  readonly lives: { readonly manager: string; readonly child: string }
  /** A counter that was not in this reading and is in the next began at zero in between. */
  readonly isComplete: boolean
  /** By the cache's own names, exact; without bitmaps. */
  readonly values: ReadonlyMap<string, bigint>
}

/** The usual counters and five for each of 40 backends; with more backends the last ones by name are left out. */
export const counterLimit = 250

/**
 * By current name, in its order: a counter's events in a second, a level as it is. The counters of one backend in several
 * VCLs are summed. Counters of a first reading (`before` null) are not known.
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

/** What a counter of `now` counted since `before`; null where that is not known. */
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

/** In the order of names, which has backends late: who is left out does not change from reading to reading. */
export function keepFirst<T>(
  series: ReadonlyMap<string, T>,
  limit: number,
): ReadonlyMap<string, T> {
  return new Map([...series].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, limit))
}

/** A gauge that the cache briefly counted below zero is zero. */
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
