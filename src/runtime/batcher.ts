/**
 * Collects items for some milliseconds and writes them together, one write at a time. Items that could not be written wait for
 * the next attempt; when too many wait, the oldest are dropped.
 */
import { setImmediate as servedOthers } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Context } from '../context.js'
import { startLoop, type LoopOptions } from './loop.js'

interface Batcher<Item> {
  /** Never blocks. `withinMs`: a shorter wait for this item than `waitMs`. */
  add(item: Item, withinMs?: number): void
  /** Whether an item of this key waits to be written. */
  isWaiting(key: unknown): boolean
  /** Writes the waiting items within `withinMs`. */
  hurry(withinMs: number): void
  /** Writes the waiting items. Never rejects: items that could not be written keep waiting. */
  flush(): Promise<void>
  /** Tries once to write the waiting items and accepts no more. */
  close(): Promise<void>
  /** Like `close`, but discards the waiting items. */
  drop(): Promise<void>
}

export interface BatcherOptions<Item> extends Pick<LoopOptions, 'restMs' | 'clock'> {
  readonly log: Logger
  /** The log message for a failed write. */
  readonly trouble: string
  /** How long an item may wait for others to be written with it. */
  readonly waitMs: number
  readonly retryMs: number
  /** Items per write; as soon as this many wait they are written. */
  readonly atOnce?: number
  /** The maximum number of waiting items. */
  readonly maxWaiting?: number
  /** Of items with the same key only one is written: the newest, or the result of `join`. */
  readonly keyOf?: (item: Item) => unknown
  readonly join?: (earlier: Item, later: Item) => Item
  readonly write: (items: readonly Item[], context: Context) => Promise<void>
}

export function createBatcher<Item>(options: BatcherOptions<Item>): Batcher<Item> {
  const { log, trouble, waitMs, atOnce = Number.POSITIVE_INFINITY } = options
  const { keyOf = () => Symbol('an item of its own') } = options
  const { maxWaiting = Number.POSITIVE_INFINITY } = options
  let waiting = new Map<unknown, Item>()
  let dropped = 0
  let isClosed = false
  const loop = startLoop({ ...options, everyMs: null, pass: ({ context }) => writeAll(context) })

  return {
    add: (item, withinMs = waitMs) => {
      if (isClosed) return
      put(waiting, keyOf(item), item)
      dropOldest()
      loop.wake(waiting.size >= atOnce ? 0 : withinMs)
    },
    isWaiting: (key) => waiting.has(key),
    hurry: (withinMs) => {
      loop.wake(withinMs)
    },
    flush: () => loop.runNow(),
    close: async () => {
      isClosed = true
      await loop.runNow()
      await loop.close()
    },
    drop: () => {
      isClosed = true
      return loop.close()
    },
  }

  /** Items added during a write wait for their own time. */
  async function writeAll(context: Context): Promise<void> {
    for (let isLeft = waiting.size > 0; isLeft;) {
      const batch = [...waiting].slice(0, atOnce)
      for (const [key] of batch) waiting.delete(key)
      isLeft = waiting.size > 0
      await write(batch, context)
      if (isLeft) await servedOthers()
    }
  }

  async function write(batch: readonly (readonly [unknown, Item])[], context: Context) {
    try {
      await options.write(
        batch.map(([, item]) => item),
        context,
      )
    } catch (error) {
      const since = waiting
      waiting = new Map(batch)
      for (const [key, item] of since) put(waiting, key, item)
      dropOldest()
      throw error
    }
    if (dropped > 0) log.error({ dropped }, `${trouble}: the oldest were dropped meanwhile`)
    dropped = 0
  }

  function put(items: Map<unknown, Item>, key: unknown, item: Item): void {
    const earlier = items.get(key)
    items.set(key, earlier === undefined ? item : (options.join?.(earlier, item) ?? item))
  }

  function dropOldest(): void {
    for (const key of waiting.keys()) {
      if (waiting.size <= maxWaiting) return
      waiting.delete(key)
      dropped += 1
    }
  }
}
