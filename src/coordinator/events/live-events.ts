/** New events, read once for all subscribers of this coordinator and handed to each that may read them, in order. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { eventsSubject } from '../bus/subjects.js'
import type { FleetEvent, EventFilter } from '../../resources/event.js'
import { printEvents } from './event-text.js'
import { readEventBounds, readEvents } from './event-queries.js'
import type { StateService } from '../service.js'
import { startLoop } from '../../runtime/loop.js'

/** A subscriber that has all events up to `lastId` and receives later ones. */
export interface LiveListener {
  readonly filter: EventFilter
  lastId: number
  /** Returns at once. */
  write(text: Buffer): void
  /** Events that it has not received are no longer kept. */
  reset(newestId: number): void
}

interface LiveEvents {
  /** Returns false while a subscriber lacks events up to `position`; undefined without subscribers. */
  add(listener: LiveListener): boolean
  remove(listener: LiveListener): void
  readonly listeners: Iterable<LiveListener>
  /** Last event sent to the subscribers; newer ones are sent to them. */
  readPosition(): Promise<number>
  close(): Promise<void>
}

/** Some 300 kB of text. */
const eventsAtOnce = 200
/** The delay of an event whose hint was lost. */
const pollEveryMs = 1_000
/** A write takes about 10 µs. */
export const writesAtOnce = 200

export function startLiveEvents({ store, bus }: StateService, log: Logger): LiveEvents {
  const live = new Set<LiveListener>()
  let position = 0
  const trouble = 'events cannot be read'
  const loop = startLoop({ log, trouble, everyMs: pollEveryMs, holdsProcess: false, pass: readOn })
  const subscription = bus.subscribe(eventsSubject, () => {
    loop.wake()
  })

  return {
    listeners: live,
    add: (listener) => {
      const wasIdle = isIdle()
      if (wasIdle) position = listener.lastId
      if (listener.lastId < position) return false
      live.add(listener)
      // No events were read for a while.
      if (wasIdle) loop.wake()
      return true
    },
    remove: (listener) => {
      live.delete(listener)
    },
    readPosition: async () => {
      if (!isIdle()) return position
      return (await readEventBounds(store.queries)).newest
    },
    close: async () => {
      subscription.close()
      live.clear()
      await loop.close()
    },
  }

  /** No subscriber has events that others lack. */
  function isIdle(): boolean {
    return live.size === 0 && !loop.isRunning
  }

  async function readOn(): Promise<void> {
    let read = eventsAtOnce
    while (read === eventsAtOnce && live.size > 0) {
      const events = await readEvents(store.queries, position, eventsAtOnce)
      read = events.length
      await handOut(events)
    }
  }

  async function handOut(events: readonly FleetEvent[]): Promise<void> {
    const [first, last] = [events[0], events.at(-1)]
    if (!first || !last) return
    const before = position
    // Subscribers added from here on have these already.
    position = last.id
    const listeners = [...live]
    if (first.id !== before + 1) {
      for (const listener of listeners) listener.reset(last.id)
      return
    }
    const printed = new Map<string, Buffer>()
    for (const [index, listener] of listeners.entries()) {
      if (index % writesAtOnce === writesAtOnce - 1) await nextTurn()
      if (!live.has(listener) || listener.lastId >= last.id) continue
      const text =
        listener.lastId > before
          ? Buffer.from(
              printEvents(
                events.filter(({ id }) => id > listener.lastId),
                listener.filter,
              ),
            )
          : printOnce(printed, events, listener.filter)
      listener.lastId = last.id
      if (text.length > 0) listener.write(text)
    }
  }
}

/** Subscribers of one organization with the same permissions share one text. */
function printOnce(
  printed: Map<string, Buffer>,
  events: readonly FleetEvent[],
  filter: EventFilter,
): Buffer {
  const key = JSON.stringify(filter)
  const known = printed.get(key)
  if (known) return known
  const text = Buffer.from(printEvents(events, filter))
  printed.set(key, text)
  return text
}
