/**
 * What was read is believed until something is written: people and scripts that look at the same few lists again and again,
 * all at once, cost one reading. Exact, not timed: whoever writes changes the generation.
 */

export interface Reading {
  /** What is read, parameters and the reader's scope included: the same text, the same answer. */
  readonly key: string
  /** How much of the memory it takes: its rows. */
  readonly rows: number
}

export type Recall = <T>(reading: Reading, read: () => Promise<T>) => Promise<T>

/** Chosen by us: a page of 50, and each agent of a thousand, at some 1 kB a row. */
const rowsMost = 2_000

/** `readGeneration` answers another number after every write, whoever wrote. What is read is shared: nobody may change it. */
export function createReadMemory(readGeneration: () => number): Recall {
  const known = new Map<string, Promise<unknown>>()
  let generation = Number.NaN
  let rows = 0
  const forget = (): void => {
    known.clear()
    rows = 0
  }

  return async <T>(reading: Reading, read: () => Promise<T>): Promise<T> => {
    const now = readGeneration()
    if (now !== generation) {
      forget()
      generation = now
    }
    const found = known.get(reading.key)
    if (found) return found as Promise<T> // the key says what is read
    if (rows + reading.rows > rowsMost) forget()
    rows += reading.rows
    const fresh = read()
    known.set(reading.key, fresh)
    fresh.catch(() => {
      if (known.get(reading.key) === fresh) known.delete(reading.key)
    })
    return fresh
  }
}
