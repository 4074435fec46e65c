/**
 * What was read is believed until something is written: people and scripts that look at the same few lists again and again,
 * all at once, cost one reading. Exact, not timed: whoever writes changes the generation.
 */

import { createReadCache } from '../../runtime/bounded-cache.js'

interface Reading {
  /** What is read, parameters and the reader's scope included: the same text, the same answer. */
  readonly key: string
  /** How much of the memory it takes: its rows. */
  readonly rows: number
}

export type Recall = <T>(reading: Reading, read: () => Promise<T>) => Promise<T>

/** A page of 50 and each of a thousand agents, at about 1 kB per row. */
const rowsMost = 2_000

/** `readGeneration` answers another number after every write, whoever wrote. What is read is shared: nobody may change it. */
export function createReadMemory(readGeneration: () => number): Recall {
  const known = createReadCache<unknown>({
    most: rowsMost,
    believedMs: Number.POSITIVE_INFINITY,
    now: () => 0,
  })
  let generation = Number.NaN
  return async <T>(reading: Reading, read: () => Promise<T>): Promise<T> => {
    const now = readGeneration()
    if (now !== generation) known.clear()
    generation = now
    return known.read(reading.key, read, reading.rows) as Promise<T> // the key says what is read
  }
}
