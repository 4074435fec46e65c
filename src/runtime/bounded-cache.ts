/** LRU caches: when a cache is full, the least recently used entry is evicted. */
import { LRUCache } from 'lru-cache'

interface BoundedCache<Key, Value> {
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  /** Returns whether there was an entry. */
  readonly delete: (key: Key) => boolean
  readonly clear: () => void
  readonly size: number
}

export function createBoundedCache<
  Key extends string | number,
  Value extends object | string | number | boolean,
>(most: number): BoundedCache<Key, Value> {
  return new LRUCache<Key, Value>({ max: most })
}

/** Memoizes a pure function of a text or number. */
export function rememberAnswers<
  Key extends string | number,
  Value extends object | string | number | boolean,
>(most: number, answer: (key: Key) => Value): (key: Key) => Value {
  const known = new LRUCache<Key, Value>({ max: most })
  return (key) => {
    const earlier = known.get(key)
    if (earlier !== undefined) return earlier
    const value = answer(key)
    known.set(key, value)
    return value
  }
}

/** Memoizes a function of an immutable object for as long as the object lives. */
export function rememberOf<Key extends object, Value>(
  answer: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>()
  return (key) => {
    const earlier = known.get(key)
    if (earlier) return earlier.value
    const value = answer(key)
    known.set(key, { value })
    return value
  }
}

interface ReadCache<Value> {
  /**
   * Returns the cached value, or reads it now; concurrent callers share one read. A read that rejects or yields undefined is
   * not cached.
   */
  read(key: string, read: () => Promise<Value>, size?: number): Promise<Value>
  /** Also discards reads in progress: later callers read again. */
  clear(): void
}

interface ReadCacheOptions<Value> {
  /** The limit of all sizes together; a read without a size counts as 1. */
  readonly most: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How long a value is valid, from the start of its read. */
  readonly believedMs: number
  /** The value's own expiry, in milliseconds since 1970. */
  readonly expiresAt?: (value: Value) => number
}

interface Reading<Value> {
  readonly found: Promise<Value>
  untilMs: number
}

export function createReadCache<Value>(options: ReadCacheOptions<Value>): ReadCache<Value> {
  const { most, now, believedMs, expiresAt } = options
  const known = new LRUCache<string, Reading<Value>>({ max: most, maxSize: most })

  return {
    read: async (key, read, size = 1) => {
      const earlier = known.get(key)
      if (earlier && earlier.untilMs > now()) return earlier.found
      const reading: Reading<Value> = { untilMs: now() + believedMs, found: read() }
      known.set(key, reading, { size: Math.max(1, size) })
      let isKept = false
      try {
        const value = await reading.found
        isKept = value !== undefined
        if (expiresAt) reading.untilMs = Math.min(reading.untilMs, expiresAt(value))
        return value
      } finally {
        if (!isKept && known.peek(key) === reading) known.delete(key)
      }
    },
    clear: () => {
      known.clear()
    },
  }
}
