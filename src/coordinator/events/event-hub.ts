/**
 * Subscribers of events: admits them, sends what they missed, then passes them to the live events. A subscription lasts as
 * long as its token and session, and follows changes of permissions.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { eventFilterOf, type OptInEventType, type EventFilter } from '../../resources/event.js'
import { printComment, printEvents, printReset } from './event-text.js'
import { may, type Actor } from '../../resources/permission.js'
import { describeFullQuota, describeFullShare, hasFairRoom } from '../../resources/quota.js'
import { FleetError } from '../../errors.js'
import { readEventBounds, readEventsFor } from './event-queries.js'
import type { EventStream } from '../http/event-stream.js'
import { readQuotas, type NamedQuotas } from '../store/quotas.js'
import type { SessionWatch } from '../identity/session-watch.js'
import type { StateService } from '../service.js'
import { startLiveEvents, writesAtOnce, type LiveListener } from './live-events.js'
import { createSampleStreams, type SampledAgent } from './sample-streams.js'
import { startLoop, type Loop } from '../../runtime/loop.js'

interface EventStart {
  /** Last event the subscriber has. */
  readonly after: number
  /** Why earlier events are missing; the subscriber starts here anyway. */
  readonly reset: string | null
}

interface NewListener {
  readonly actor: Actor
  /** Result of `requireRoom`. */
  readonly organization: NamedQuotas | undefined
  readonly start: EventStart
  /** Opt-in types, as far as permitted. */
  readonly also: readonly OptInEventType[]
  /** Agents whose live samples it receives. */
  readonly agents: readonly SampledAgent[]
  /** Milliseconds since 1970; the stream ends with its token. */
  readonly expiresAtMs: number
}

/** Limit per account and coordinator. */
export const listenersOfAccount = 100
/** Limit per coordinator. */
const maxListeners = 5_000
/** A subscriber with more unread bytes is disconnected and resumes by id. Texts are shared, so this costs little. */
const waitingMostBytes = 1024 * 1024
/** A subscriber with more unread bytes gets no samples until it has read them. */
const samplesWaitingMostBytes = 64 * 1024
/** Past events read at once for one subscriber. */
const missedAtOnce = 100
/** docs/behaviour.md, Events. */
const commentEveryMs = 15_000
const expiryEveryMs = 1_000
const retryAfterSeconds = 10

const tooOld = 'events after that id are no longer kept: read again what you show'
const unknownId = 'Last-Event-ID is not an id of an event here: read again what you show'

interface Listener extends LiveListener {
  filter: EventFilter
  maySample: boolean
  readonly accountId: number
  readonly organizationId: number | null
  readonly expiresAtMs: number
  readonly connection: EventStream
}

export class EventHub {
  readonly #service: StateService
  readonly #sessions: SessionWatch
  readonly #log: Logger
  readonly #live: ReturnType<typeof startLiveEvents>
  readonly #samples: ReturnType<typeof createSampleStreams>
  readonly #all = new Set<Listener>()
  readonly #loops: readonly Loop[]
  #isClosed = false

  constructor(service: StateService, sessions: SessionWatch, log: Logger) {
    this.#service = service
    this.#sessions = sessions
    this.#log = log
    this.#live = startLiveEvents(service, log)
    this.#samples = createSampleStreams(service.liveSamples)
    // They do not keep a coordinator alive that could not start.
    const holdsProcess = false
    this.#loops = [
      startLoop({
        log,
        trouble: 'keep-alive comments cannot be sent',
        everyMs: commentEveryMs,
        holdsProcess,
        pass: () => this.#comment(),
      }),
      startLoop({
        log,
        trouble: 'expired listeners cannot be ended',
        everyMs: expiryEveryMs,
        holdsProcess,
        pass: () => {
          this.#expire()
        },
      }),
    ]
  }

  /** Current number of subscribers. */
  get count(): number {
    return this.#all.size
  }

  /**
   * Returns the quotas of the actor's organization, if any. Throws 'limited' if the account, its organization or the
   * coordinator has too many subscribers or live subscriptions.
   */
  async requireRoom(
    actor: Actor,
    agents: readonly SampledAgent[],
  ): Promise<NamedQuotas | undefined> {
    const { organizationId } = actor
    const organization =
      organizationId === null
        ? undefined
        : await readQuotas(this.#service.store.queries, organizationId)
    this.#requireListenerRoom(actor, organization)
    this.#samples.requireRoom({ ...actor, organization }, agents)
    return organization
  }

  /** Start position of a caller: null for an unknown id, undefined for now. */
  async findStart(lastEventId: number | null | undefined): Promise<EventStart> {
    const { newest, oldest } = await readEventBounds(this.#service.store.queries)
    if (lastEventId === undefined) return { after: newest, reset: null }
    if (lastEventId === null || lastEventId > newest) return { after: newest, reset: unknownId }
    const isKept = lastEventId >= (oldest ?? newest + 1) - 1
    return isKept ? { after: lastEventId, reset: null } : { after: newest, reset: tooOld }
  }

  listen(
    { actor, organization, start, also, agents, expiresAtMs }: NewListener,
    connection: EventStream,
  ): void {
    if (!this.#hasRoomStill(actor, organization)) {
      connection.end()
      return
    }
    const listener: Listener = {
      filter: eventFilterOf(actor, also),
      maySample: maySample(actor),
      accountId: actor.accountId,
      organizationId: actor.organizationId,
      expiresAtMs,
      connection,
      lastId: start.after,
      write: (text) => {
        // Bytes queued before count: one text may be long.
        if (connection.waitingBytes > waitingMostBytes) connection.cut()
        else connection.write(text)
      },
      reset: (newestId) => {
        listener.lastId = newestId
        listener.write(Buffer.from(printReset(newestId, tooOld)))
      },
    }
    this.#all.add(listener)
    const session = this.#sessions.watch(actor, (now) => {
      if (!now) {
        connection.end()
        return
      }
      listener.filter = eventFilterOf(now, also)
      listener.maySample = maySample(now)
    })
    const stopSamples = this.#openSamples(listener, agents, organization)
    connection.onClose(() => {
      stopSamples()
      session.close()
      this.#live.remove(listener)
      this.#all.delete(listener)
    })
    const { after, reset } = start
    listener.write(Buffer.from(reset === null ? printComment(after) : printReset(after, reset)))
    if (this.#isClosed) connection.end()
    else void this.#join(listener) // never rejects
  }

  /** Ends all subscriptions: they resume at another coordinator, or here after a restart. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { connection } of this.#all) connection.end()
    await Promise.all(this.#loops.map((loop) => loop.close()))
    await this.#live.close()
  }

  #requireListenerRoom(
    { accountId, organizationId }: Actor,
    organization: NamedQuotas | undefined,
  ): void {
    let [ofAccount, held] = [0, 0]
    for (const listener of this.#all) {
      if (listener.accountId === accountId) ofAccount++
      if (listener.organizationId === organizationId) held++
    }
    if (ofAccount >= listenersOfAccount)
      throw limited(
        `this account listens to events ${listenersOfAccount} times here already; end some`,
      )
    if (this.#all.size >= maxListeners)
      throw limited(
        `this coordinator has ${maxListeners} listeners of events already; try another one`,
      )
    if (!organization) return
    const { name, quotas } = organization
    if (held >= quotas.listeners)
      throw limited(describeFullQuota(name, 'listeners', quotas.listeners))
    if (!hasFairRoom({ total: maxListeners, used: this.#all.size, held, wanted: 1 }))
      throw limited(
        describeFullShare(name, `the ${maxListeners} listeners of events of this coordinator`),
      )
  }

  /** Others may have used the quota since it was admitted: it gets the error when it reconnects. */
  #hasRoomStill(actor: Actor, organization: NamedQuotas | undefined): boolean {
    try {
      this.#requireListenerRoom(actor, organization)
      return true
    } catch {
      return false
    }
  }

  #openSamples(
    listener: Listener,
    agents: readonly SampledAgent[],
    organization: NamedQuotas | undefined,
  ): () => void {
    const { accountId, organizationId, connection } = listener
    const isReady = (): boolean =>
      listener.maySample &&
      !connection.isClosed &&
      connection.waitingBytes <= samplesWaitingMostBytes
    const write = (text: Buffer): void => {
      connection.write(text)
    }
    try {
      return this.#samples.open({ accountId, organizationId, organization, agents, isReady, write })
    } catch {
      // Others used the quota since it was admitted: it gets the error when it reconnects.
      connection.end()
      return () => undefined
    }
  }

  async #join(listener: Listener): Promise<void> {
    try {
      while (!listener.connection.isClosed) {
        const until = await this.#live.readPosition()
        if (listener.lastId >= until && this.#live.add(listener)) return
        await this.#sendMissed(listener, until)
        await listener.connection.drain()
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'events that a listener missed cannot be read')
      listener.connection.cut()
    }
  }

  async #sendMissed(listener: Listener, until: number): Promise<void> {
    const { lastId: after, filter } = listener
    const events = await readEventsFor(this.#service.store.queries, filter, {
      after,
      until,
      limit: missedAtOnce,
    })
    // Checked afterwards: some may have been removed while they were read.
    const { oldest, newest } = await readEventBounds(this.#service.store.queries)
    if ((oldest ?? newest + 1) > after + 1) {
      listener.reset(newest)
      return
    }
    const text = printEvents(events, filter)
    listener.lastId = events.length < missedAtOnce ? until : (events.at(-1)?.id ?? until)
    if (text !== '') listener.connection.write(Buffer.from(text))
  }

  async #comment(): Promise<void> {
    for (const [index, listener] of [...this.#live.listeners].entries()) {
      if (index % writesAtOnce === writesAtOnce - 1) await nextTurn()
      listener.write(Buffer.from(printComment(listener.lastId)))
    }
  }

  #expire(): void {
    const now = this.#service.now()
    for (const { expiresAtMs, connection } of this.#all) if (expiresAtMs <= now) connection.end()
  }
}

/** docs/behaviour.md, Permissions: `stats` plus read on the object. */
function maySample(actor: Actor): boolean {
  return may(actor, 'stats', 'read') && may(actor, 'agent', 'read')
}

function limited(message: string): FleetError {
  return new FleetError('limited', 'event', message, { retryAfterSeconds })
}
