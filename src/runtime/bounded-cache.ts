/** What is remembered of many: when there is no room for more, what was used longest ago is forgotten. */
import { LRUCache } from 'lru-cache'

interface BoundedCache<Key, Value> {
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  /** Answers whether there was one. */
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

/** A function of a text or number that remembers what it answered. It must answer the same every time. */
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

/** The same of an object that does not change, for as long as it lives. */
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
   * What is known, or else is read now; who asks meanwhile waits for the same reading. What rejects, or is undefined, is not
   * known afterwards.
   */
  read(key: string, read: () => Promise<Value>, size?: number): Promise<Value>
  /** Also forgets what is being read: who asks from now on reads anew. */
  clear(): void
}

interface ReadCacheOptions<Value> {
  /** Of all sizes together; a reading whose size is not said has 1. */
  readonly most: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** How long it is believed, from when it was begun to be read. */
  readonly believedMs: number
  /** When it counts no more of its own, in milliseconds since 1970. */
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
