/**
 * Finds the most frequent keys of a stream in bounded memory: Metwally's space-saving. A key that makes up more than 1/`capacity` of
 * the stream is always kept; a count is too high by at most its error.
 */
interface CountedKey {
  readonly key: string
  readonly count: number
  /** Counted for other keys before this one replaced them. */
  readonly error: number
}

interface Counter {
  key: string
  count: number
  error: number
  /** Its index in the heap. */
  at: number
}

/** Adding takes logarithmic time in the capacity. */
export class SpaceSaving {
  readonly #capacity: number
  readonly #counters = new Map<string, Counter>()
  /** Lowest count first. */
  readonly #heap: Counter[] = []

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  add(key: string, weight = 1): void {
    const known = this.#counters.get(key)
    if (known) {
      known.count += weight
      this.#sink(known)
    } else if (this.#heap.length < this.#capacity) {
      const counter = { key, count: weight, error: 0, at: this.#heap.length }
      this.#heap.push(counter)
      this.#counters.set(key, counter)
      this.#rise(counter)
    } else {
      const [least] = this.#heap
      if (!least) return
      this.#counters.delete(least.key)
      least.error = least.count
      least.count += weight
      least.key = key
      this.#counters.set(key, least)
      this.#sink(least)
    }
  }

  /** Returns the keys with the highest counts, highest first; equal counts by key. */
  listTop(most: number): readonly CountedKey[] {
    return this.#heap
      .toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
      .slice(0, most)
      .map(({ key, count, error }) => ({ key, count, error }))
  }

  #sink(counter: Counter): void {
    for (;;) {
      const [left, right] = [this.#heap[2 * counter.at + 1], this.#heap[2 * counter.at + 2]]
      const lesser = right && left && right.count < left.count ? right : left
      if (!lesser || lesser.count >= counter.count) return
      this.#swap(counter, lesser)
    }
  }

  #rise(counter: Counter): void {
    for (;;) {
      const above = this.#heap[(counter.at - 1) >> 1]
      if (counter.at === 0 || !above || above.count <= counter.count) return
      this.#swap(counter, above)
    }
  }

  #swap(a: Counter, b: Counter): void {
    ;[a.at, b.at] = [b.at, a.at]
    this.#heap[a.at] = a
    this.#heap[b.at] = b
  }
}

/** Merges several streams: sums counts and errors by key. Errors of streams that do not list a key are unknown and not included. */
export function mergeCounts(lists: readonly (readonly CountedKey[])[], most: number): CountedKey[] {
  const sums = new Map<string, { count: number; error: number }>()
  for (const { key, count, error } of lists.flat()) {
    const sum = sums.get(key)
    if (sum) {
      sum.count += count
      sum.error += error
    } else sums.set(key, { count, error })
  }
  return [...sums]
    .map(([key, sum]) => ({ key, ...sum }))
    .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
    .slice(0, most)
}
