/** Delivers the invalidation log to the agents of this process: in order, a window ahead, retried until recorded. */
import type { Logger } from 'pino'
import {
  findRoom,
  lastSent,
  noteFault,
  noteRecorded,
  noteSent,
  openWindow,
  retryNow,
  type DeliveryWindow,
} from './delivery-window.js'
import type { Subscription } from '../bus/bus.js'
import { invalidationsLoggedSubject } from '../bus/subjects.js'
import type { Invalidated } from '../../messages/agent-to-coordinator.js'
import { Semaphore } from '../../runtime/semaphore.js'
import type { SharedMessage } from '../../messages/shared-message.js'
import { openInvalidationLog, type DeliverableEntry } from '../invalidations/invalidation-log.js'
import { createInvalidationRecorder } from '../invalidations/invalidation-reports.js'
import type { StateService } from '../service.js'
import { createMessageWriter, cutMessages } from './invalidation-message.js'
import { createInvalidationTail } from './invalidation-tail.js'
import { createBoundedCache } from '../../runtime/bounded-cache.js'

/** The part of an agent's session that is needed here. */
export interface Recipient {
  readonly agentId: number
  /** True if the session is live and its agent may change its cache and supports the message. */
  mayBeSent(): boolean
  /** Returns false if the link is closing. */
  send(message: SharedMessage): boolean
  /** Called when the agent has caught up with the entries it missed. */
  caughtUp(): void
}

interface Delivery {
  readonly recipient: Recipient
  window: DeliveryWindow
  /** Entries up to here are sent, in `ahead`, or not for this agent. */
  scanned: number
  ahead: DeliverableEntry[]
  isReading: boolean
  /** The newest position that the agent reported. */
  reported: number
  readonly setsInFlight: Map<number, number>
  /** Null if the agent is not behind. */
  behindUntil: number | null
  retry: NodeJS.Timeout | null
}

/** Entries per query for an agent that is not served from the tail; and the limit of such queries at a time. */
const pageEntries = 128
const maxReads = 4
/** Agents per turn of the event loop, about 20 µs each, so that API calls do not wait. */
const agentsPerTurn = 50
/** Limit of disconnected agents whose window is kept. Some are deleted and never return. */
const maxLeft = 10_000

export class InvalidationDelivery {
  readonly #log: Logger
  readonly #deliveries = new Map<number, Delivery>()
  /** Agents that have not reported every entry sent to them. */
  readonly #awaited = new Set<number>()
  /** Unrecorded entries of agents that disconnected. */
  readonly #unrecorded = createBoundedCache<number, ReadonlySet<number>>(maxLeft)
  readonly #reads = new Semaphore({ permits: maxReads })
  readonly #writeMessage: ReturnType<typeof createMessageWriter>
  readonly #entries: ReturnType<typeof openInvalidationLog>
  readonly #tail: ReturnType<typeof createInvalidationTail>
  readonly #hints: Subscription
  readonly #recorder: ReturnType<typeof createInvalidationRecorder>

  constructor(service: StateService, log: Logger) {
    this.#log = log
    this.#writeMessage = createMessageWriter(service.now)
    this.#entries = openInvalidationLog(service)
    const grown = () => {
      this.#serveAll()
    }
    this.#tail = createInvalidationTail(service, log, { entries: this.#entries, grown })
    this.#hints = service.bus.subscribe(invalidationsLoggedSubject, ({ dropped, isRetry }) => {
      this.#forget(new Set(dropped))
      if (isRetry !== true) return
      for (const delivery of this.#deliveries.values()) delivery.window = retryNow(delivery.window)
      this.#serveAll()
    })
    this.#recorder = createInvalidationRecorder(service, log, (agentId, position) => {
      const delivery = this.#deliveries.get(agentId)
      if (!delivery) return
      delivery.window = noteRecorded(delivery.window, position)
      for (const sent of delivery.setsInFlight.keys())
        if (sent <= position) delivery.setsInFlight.delete(sent)
      this.#serve(delivery)
    })
  }

  remove(recipient: Recipient): void {
    const { agentId } = recipient
    const delivery = this.#deliveries.get(agentId)
    if (delivery?.recipient !== recipient) return
    this.#deliveries.delete(agentId)
    this.#awaited.delete(agentId)
    if (delivery.retry) clearTimeout(delivery.retry)
    const { inFlight } = delivery.window
    if (inFlight.length > 0) this.#unrecorded.set(agentId, new Set(inFlight))
  }

  /** Called when the agent is live, may be changed again, or its cache is back. */
  wake(agentId: number, isCacheBack: boolean): void {
    const delivery = this.#deliveries.get(agentId)
    if (!delivery) return
    if (isCacheBack && delivery.window.faults > 0) delivery.behindUntil = this.#tail.end
    if (isCacheBack) delivery.window = retryNow(delivery.window)
    this.#serve(delivery)
  }

  /** True while the agent has not caught up with entries it missed while it, or its cache, was away. */
  isBehind(agentId: number): boolean {
    return this.#deliveries.get(agentId)?.behindUntil != null
  }

  async close(): Promise<void> {
    await this.#tail.close()
    this.#hints.close()
    for (const { retry } of this.#deliveries.values()) if (retry) clearTimeout(retry)
    await this.#recorder.close()
  }

  /** Called before the session is live. `wasAway`: the agent must catch up before it is Running. `isNew`: it has no cursor. */
  async add(
    recipient: Recipient,
    { isNew, wasAway }: { readonly isNew: boolean; readonly wasAway: boolean },
  ): Promise<void> {
    const { agentId } = recipient
    const recorded = isNew ? 0 : await this.#entries.readCursor(agentId)
    const end = wasAway ? await this.#entries.readEnd() : 0
    const missed = end > recorded ? await this.#entries.readOfAgent(agentId, recorded, 1) : []
    this.#deliveries.set(agentId, {
      recipient,
      window: openWindow(recorded),
      scanned: recorded,
      ahead: [],
      isReading: false,
      reported: recorded,
      setsInFlight: new Map(),
      behindUntil: missed.length > 0 ? end : null,
      retry: null,
    })
  }

  take(agentId: number, { results, trouble, traceId }: Invalidated): void {
    const delivery = this.#deliveries.get(agentId)
    if (!delivery) return
    // Other positions are from an earlier link or invalid; entries in flight are sent again anyway.
    const known = results.filter(({ position }) => delivery.window.inFlight.includes(position))
    const setIds = new Set(
      known.flatMap(({ position }) => delivery.setsInFlight.get(position) ?? []),
    )
    delivery.reported = known.at(-1)?.position ?? delivery.reported
    if (trouble !== null || delivery.reported >= lastSent(delivery.window))
      this.#awaited.delete(agentId)
    this.#recorder.record({ agentId, results: known, trouble, setIds })
    if (this.#awaited.size === 0) this.#recorder.hurry()
    if (trouble === null) return
    this.#log.warn(
      { agentId, traceId, why: trouble },
      'an invalidation could not be done; trying on',
    )
    delivery.window = noteFault(delivery.window, delivery.reported, performance.now())
    delivery.ahead = []
    delivery.scanned = delivery.reported
    this.#serveLater(delivery)
  }

  #serveLater(delivery: Delivery): void {
    if (delivery.retry) clearTimeout(delivery.retry)
    const waitMs = Math.ceil(Math.max(1, delivery.window.notBeforeMs - performance.now()))
    delivery.retry = setTimeout(() => {
      delivery.retry = null
      if (this.#deliveries.get(delivery.recipient.agentId) === delivery) this.#serve(delivery)
    }, waitMs)
  }

  /** Drops entries that ended and must not be sent any more. */
  #forget(ids: ReadonlySet<number>): void {
    if (ids.size === 0) return
    for (const delivery of this.#deliveries.values()) {
      if (!delivery.ahead.some(({ id }) => ids.has(id))) continue
      delivery.ahead = delivery.ahead.filter(({ id }) => !ids.has(id))
      this.#serve(delivery)
    }
  }

  /** Called when the log has grown. */
  #serveAll(): void {
    const left = [...this.#deliveries.values()]
    const serveSome = (): void => {
      for (const delivery of left.splice(0, agentsPerTurn)) this.#serve(delivery)
      if (left.length > 0) setImmediate(serveSome)
    }
    serveSome()
  }

  #serve(delivery: Delivery): void {
    this.#sendWhatFits(delivery)
    this.#noteWhetherCaughtUp(delivery)
  }

  #sendWhatFits(delivery: Delivery): void {
    if (!delivery.recipient.mayBeSent()) return
    const now = performance.now()
    // A timer may fire a little too early.
    if (now < delivery.window.notBeforeMs) {
      this.#serveLater(delivery)
      return
    }
    const room = findRoom(delivery.window, now)
    const chosen: DeliverableEntry[] = []
    while (chosen.length < room) {
      const next = this.#takeNext(delivery)
      if (!next) break
      chosen.push(next)
    }
    this.#send(delivery, chosen)
  }

  /** Returns undefined if there is no entry or it is being read. */
  #takeNext(delivery: Delivery): DeliverableEntry | undefined {
    const { agentId } = delivery.recipient
    const first = delivery.ahead.shift()
    if (first) return first
    if (delivery.isReading) return undefined
    if (!(delivery.scanned >= this.#tail.start)) {
      this.#readAhead(delivery)
      return undefined
    }
    for (
      let next = this.#tail.next(delivery.scanned);
      next;
      next = this.#tail.next(delivery.scanned)
    ) {
      delivery.scanned = next.position
      if (next.coverages.has(agentId)) return next
    }
    // Entries behind the last kept one have ended and are not sent.
    delivery.scanned = Math.max(delivery.scanned, this.#tail.end)
    return undefined
  }

  #readAhead(delivery: Delivery): void {
    if (Number.isNaN(this.#tail.end)) return // it is about to be known, and then all are served
    delivery.isReading = true
    void this.#reads.run(() => this.#readPage(delivery)) // never rejects
  }

  /** Never rejects. */
  async #readPage(delivery: Delivery): Promise<void> {
    const { agentId } = delivery.recipient
    const { scanned: after } = delivery
    const { end } = this.#tail
    try {
      const page = await this.#entries.readOfAgent(agentId, after, pageEntries)
      delivery.isReading = false
      // After a fault in the meantime the delivery restarts from another position.
      if (delivery.scanned === after) {
        delivery.ahead = [...page]
        const last = page.at(-1)?.position ?? after
        delivery.scanned = page.length < pageEntries ? Math.max(last, end) : last
      }
      this.#serve(delivery)
    } catch (error) {
      delivery.isReading = false
      this.#log.warn(
        { err: error, agentId },
        'the invalidations of an agent cannot be read; trying on',
      )
      delivery.window = noteFault(delivery.window, delivery.reported, performance.now())
      this.#serveLater(delivery)
    }
  }

  #send(delivery: Delivery, chosen: readonly DeliverableEntry[]): void {
    const { recipient, setsInFlight } = delivery
    const { agentId } = recipient
    for (const orders of cutMessages(chosen, agentId)) {
      const { isRestart } = delivery.window
      const message = this.#writeMessage(orders, { after: lastSent(delivery.window), isRestart })
      const positions = orders.map(({ entry }) => entry.position)
      delivery.window = noteSent(delivery.window, positions)
      for (const { entry } of orders) setsInFlight.set(entry.position, entry.attemptSetId)
      this.#awaited.add(agentId)
      this.#noteRepeated(agentId, positions)
      recipient.send(message)
    }
  }

  #noteRepeated(agentId: number, positions: readonly number[]): void {
    const before = this.#unrecorded.get(agentId)
    if (!before) return
    const repeated = positions.filter((position) => before.has(position)).length
    if (repeated > 0) this.#log.info({ agentId, repeated }, 'invalidations are repeated')
    this.#unrecorded.delete(agentId)
  }

  #noteWhetherCaughtUp(delivery: Delivery): void {
    const { behindUntil, scanned, ahead, window, recipient } = delivery
    if (behindUntil === null || scanned < behindUntil) return
    if (ahead.length > 0 || window.inFlight.length > 0) return
    delivery.behindUntil = null
    recipient.caughtUp()
  }
}
