/**
 * Caches reads until the next write, so that many users and scripts polling the same few lists cause one query.
 * Exact, not timed: every write changes the generation.
 */

import { createReadCache } from '../../runtime/bounded-cache.js'

interface Reading {
  /** Identifies the read, including parameters and the reader's scope: equal keys, equal results. */
  readonly key: string
  /** Its share of the cache, in rows. */
  readonly rows: number
}

export type Recall = <T>(reading: Reading, read: () => Promise<T>) => Promise<T>

/** A page of 50 and each of a thousand agents, at about 1 kB per row. */
const maxRows = 2_000

/** `readGeneration` returns a different number after every write by any process. Results are shared: callers must not change them. */
export function createReadMemory(readGeneration: () => number): Recall {
  const known = createReadCache<unknown>({
    most: maxRows,
    believedMs: Number.POSITIVE_INFINITY,
    now: () => 0,
  })
  let generation = Number.NaN
  return async <T>(reading: Reading, read: () => Promise<T>): Promise<T> => {
    const now = readGeneration()
    if (now !== generation) known.clear()
    generation = now
    return known.read(reading.key, read, reading.rows) as Promise<T> // the key determines the type
  }
}
