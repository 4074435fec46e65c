/** What takes long to find and is asked for again and again: what is known is answered while it is found anew. */
import { createBoundedCache } from './bounded-cache.js'

interface RefreshedMemory<Value> {
  /** Rejects when nothing usable is known and `find` rejects. Who asks meanwhile waits for the same finding. */
  read(key: string, find: () => Promise<Value>): Promise<Value>
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
}

interface Entry<Value> {
  known: { readonly value: Value; readonly atMs: number } | undefined
  finding: Promise<Value> | undefined
}

export function createRefreshedMemory<Value>({
  most,
  now,
  freshMs,
  usableMs,
}: RefreshedMemoryOptions): RefreshedMemory<Value> {
  const entries = createBoundedCache<string, Entry<Value>>(most)
  return {
    read: async (key, find) => {
      const entry = entries.get(key) ?? { known: undefined, finding: undefined }
      entries.set(key, entry)
      const { known } = entry
      const ageMs = known ? now() - known.atMs : Number.POSITIVE_INFINITY
      if (known && ageMs < freshMs) return known.value
      entry.finding ??= findAnew(entry, find)
      if (!known || ageMs >= usableMs) return entry.finding
      // Whoever asks next tries again, and once what is known is too old, is told.
      entry.finding.catch(() => undefined)
      return known.value
    },
  }

  async function findAnew(entry: Entry<Value>, find: () => Promise<Value>): Promise<Value> {
    const atMs = now()
    try {
      const value = await find()
      entry.known = { value, atMs }
      return value
    } finally {
      entry.finding = undefined
    }
  }
}
