/** A stale-while-revalidate cache for values that are slow to find and often requested. */
import { createBoundedCache } from './bounded-cache.js'
import { waitAtMost } from './pause.js'

interface RefreshedMemory<Value> {
  /**
   * Undefined: no usable value is known and `find` takes longer than `waitMostMs`; it continues. Rejects when no usable value
   * is known and `find` rejects. Concurrent callers share one `find`, which receives the known value.
   */
  read(key: string, find: (known: Value | undefined) => Promise<Value>): Promise<Value | undefined>
}

interface RefreshedMemoryOptions {
  /** The maximum number of keys. */
  readonly most: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Up to this age the known value is returned without a refresh. */
  readonly freshMs: number
  /** Up to this age the known value is returned while it is refreshed; later, callers wait. */
  readonly usableMs: number
  /** How long a caller waits. */
  readonly waitMostMs: number
}

interface Entry<Value> {
  known: { readonly value: Value; readonly atMs: number } | undefined
  finding: Promise<Value> | undefined
}

export function createRefreshedMemory<Value>(
  options: RefreshedMemoryOptions,
): RefreshedMemory<Value> {
  const { most, now, freshMs, usableMs, waitMostMs } = options
  const entries = createBoundedCache<string, Entry<Value>>(most)
  return {
    read: async (key, find) => {
      const entry = entries.get(key) ?? { known: undefined, finding: undefined }
      entries.set(key, entry)
      const { known } = entry
      const ageMs = known ? now() - known.atMs : Number.POSITIVE_INFINITY
      if (known && ageMs < freshMs) return known.value
      entry.finding ??= findAnew(entry, find)
      // Nothing may await it (the known value is returned): a failure is ignored, and the next caller retries.
      entry.finding.catch(() => undefined)
      if (known && ageMs < usableMs) return known.value
      return waitAtMost(waitMostMs, entry.finding, () => undefined)
    },
  }

  async function findAnew(
    entry: Entry<Value>,
    find: (known: Value | undefined) => Promise<Value>,
  ): Promise<Value> {
    const atMs = now()
    try {
      const value = await find(entry.known?.value)
      entry.known = { value, atMs }
      return value
    } finally {
      entry.finding = undefined
    }
  }
}
