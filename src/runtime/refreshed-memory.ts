/** What takes long to find and is asked for again and again: what is known is answered while it is found anew. */
import { createBoundedCache } from './bounded-cache.js'
import { waitAtMost } from './pause.js'

interface RefreshedMemory<Value> {
  /**
   * Undefined: nothing usable is known, and finding it takes longer than whoever asks waits; it goes on. Rejects when
   * nothing usable is known and `find` rejects. Who asks meanwhile waits for the same finding. `find` is given what was known.
   */
  read(key: string, find: (known: Value | undefined) => Promise<Value>): Promise<Value | undefined>
}

interface RefreshedMemoryOptions {
  /** Of keys. */
  readonly most: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Until then what is known is answered, and nothing is found anew. */
  readonly freshMs: number
  /** Until then it is answered while it is found anew; later whoever asks waits. */
  readonly usableMs: number
  /** How long whoever asks waits. */
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
      // Also of whoever was answered without it: who asks next tries again.
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
