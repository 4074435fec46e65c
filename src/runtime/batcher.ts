/**
 * Collects items for some milliseconds and writes them together, one write at a time. What could not be written waits for
 * the next try; where more wait than may, the oldest are dropped.
 */
import { setImmediate as servedOthers } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Context } from '../context.js'
import { startLoop, type LoopOptions } from './loop.js'

interface Batcher<Item> {
  /** Never waits. `withinMs`: where it is not to wait as long as others. */
  add(item: Item, withinMs?: number): void
  /** Whether an item of this key waits to be written. */
  isWaiting(key: unknown): boolean
  /** Writes earlier what waits. */
  hurry(withinMs: number): void
  /** Writes what waits. Never rejects: what could not be written waits on. */
  flush(): Promise<void>
  /** Writes what waits, once, and takes nothing any more. */
  close(): Promise<void>
  /** As `close`, and writes nothing. */
  drop(): Promise<void>
}

export interface BatcherOptions<Item> extends Pick<LoopOptions, 'restMs' | 'clock'> {
  readonly log: Logger
  /** What a write that fails is logged as. */
  readonly trouble: string
  /** How long an item may wait for company. */
  readonly waitMs: number
  readonly retryMs: number
  /** Items a write; as soon as so many wait they are written. */
  readonly atOnce?: number
  /** Items that may wait. */
  readonly waitingMost?: number
  /** Of items with the same key one is written: the newest, or what `join` makes of both. */
  readonly keyOf?: (item: Item) => unknown
  readonly join?: (earlier: Item, later: Item) => Item
  readonly write: (items: readonly Item[], context: Context) => Promise<void>
}

export function createBatcher<Item>(options: BatcherOptions<Item>): Batcher<Item> {
  const { log, trouble, waitMs, atOnce = Number.POSITIVE_INFINITY } = options
  const { keyOf = () => Symbol('an item of its own') } = options
  const { waitingMost = Number.POSITIVE_INFINITY } = options
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

  /** What comes while it is written waits for its own time. */
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
      if (waiting.size <= waitingMost) return
      waiting.delete(key)
      dropped += 1
    }
  }
}
