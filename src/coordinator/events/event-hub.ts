/**
 * Who listens to events: let in, given what it missed, then handed to the live events. A listener lives as long as its
 * token and its session; what it may hear follows its permissions.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { hearingOf, type AskedEventType, type Hearing } from '../../resources/event.js'
import { printComment, printEvents, printReset } from './event-text.js'
import { may, type Actor } from '../../resources/permission.js'
import { describeFullQuota, describeFullShare, hasFairRoom } from '../../resources/quota.js'
import { FleetError } from '../../errors.js'
import { readEventBounds, readEventsFor } from './event-queries.js'
import { readQuotas, type NamedQuotas } from '../store/quotas.js'
import type { SessionWatch } from '../identity/session-watch.js'
import type { StateService } from '../service.js'
import { startLiveEvents, writesAtOnce, type LiveListener } from './live-events.js'
import { createSampleStreams, type LookedAtAgent } from './sample-streams.js'
import { startLoop } from '../../runtime/loop.js'

/** Where a listener is written to. */
interface ListenerConnection {
  readonly isClosed: boolean
  /** What it was given and has not taken. */
  readonly waitingBytes: number
  write(text: Buffer): void
  /** Resolves when all was taken, or it is closed. */
  drain(): Promise<void>
  /** After what was written. */
  end(): void
  /** At once. */
  cut(): void
  /** Called once, however it was closed. */
  onClose(tell: () => void): void
}

export interface EventHub {
  /**
   * Answers the quotas of the actor's organization, if it has one. Throws 'limited' when the account, its organization or the
   * coordinator has too many listeners or looks at too many agents.
   */
  requireRoom(actor: Actor, agents: readonly LookedAtAgent[]): Promise<NamedQuotas | undefined>
  /** Where a caller begins: null is an id that is none of ours, undefined is now. */
  findStart(lastEventId: number | null | undefined): Promise<EventStart>
  listen(listener: NewListener, connection: ListenerConnection): void
  /** Listeners now. */
  readonly count: number
  /** Ends all listeners: they resume at another coordinator, or here after its start. */
  close(): Promise<void>
}

interface EventStart {
  /** It has everything up to here. */
  readonly after: number
  /** Why it has not, and begins here all the same. */
  readonly reset: string | null
}

interface NewListener {
  readonly actor: Actor
  /** As `requireRoom` answered it. */
  readonly organization: NamedQuotas | undefined
  readonly start: EventStart
  /** Heard as well, as far as it may. */
  readonly also: readonly AskedEventType[]
  /** Whose samples it hears too. */
  readonly agents: readonly LookedAtAgent[]
  /** Milliseconds since 1970; with its token it ends. */
  readonly expiresAtMs: number
}

/** Chosen by us: of one account, at one coordinator. */
export const listenersOfAccount = 100
/** Chosen by us: at one coordinator. */
const listenersMost = 5_000
/** Chosen by us: who does not take this much is cut off, and resumes by id. Texts are shared, so it costs little. */
const waitingMostBytes = 1024 * 1024
/** Chosen by us: who has not taken this much gets no samples until it has. */
const samplesWaitingMostBytes = 64 * 1024
/** Chosen by us: events of the past that are read at once for one listener. */
const missedAtOnce = 100
/** choices: 2, events. */
const commentEveryMs = 15_000
const expiryEveryMs = 1_000
/** Chosen by us. */
const retryAfterSeconds = 10

const tooOld = 'events after that id are no longer kept: read again what you show'
const unknownId = 'Last-Event-ID is no id of an event here: read again what you show'

interface Listener extends LiveListener {
  hearing: Hearing
  maySample: boolean
  readonly accountId: number
  readonly organizationId: number | null
  readonly expiresAtMs: number
  readonly connection: ListenerConnection
}

export function createEventHub(
  service: StateService,
  sessions: SessionWatch,
  log: Logger,
): EventHub {
  const { queries } = service.store
  const live = startLiveEvents(service, log)
  const samples = createSampleStreams(service.liveSamples)
  const all = new Set<Listener>()
  let closed = false
  // A coordinator that could not start is not held by them.
  const loops = [
    startLoop({
      ...{ log, trouble: 'listeners cannot be told that all is well', everyMs: commentEveryMs },
      ...{ holdsProcess: false, pass: comment },
    }),
    startLoop({
      ...{ log, trouble: 'expired listeners cannot be ended', everyMs: expiryEveryMs },
      ...{ holdsProcess: false, pass: expire },
    }),
  ]

  return {
    get count() {
      return all.size
    },
    requireRoom: async (actor, agents) => {
      const { organizationId } = actor
      const organization =
        organizationId === null ? undefined : await readQuotas(queries, organizationId)
      requireListenerRoom(actor, organization)
      samples.requireRoom({ ...actor, organization }, agents)
      return organization
    },
    findStart: async (lastEventId) => {
      const { newest, oldest } = await readEventBounds(queries)
      if (lastEventId === undefined) return { after: newest, reset: null }
      if (lastEventId === null || lastEventId > newest) return { after: newest, reset: unknownId }
      const isKept = lastEventId >= (oldest ?? newest + 1) - 1
      return isKept ? { after: lastEventId, reset: null } : { after: newest, reset: tooOld }
    },
    listen: ({ actor, organization, start, also, agents, expiresAtMs }, connection) => {
      if (!hasRoomStill(actor, organization)) {
        connection.end()
        return
      }
      const listener: Listener = {
        hearing: hearingOf(actor, also),
        maySample: maySample(actor),
        accountId: actor.accountId,
        organizationId: actor.organizationId,
        expiresAtMs,
        connection,
        lastId: start.after,
        write: (text) => {
          // What waited before counts: one text may be long.
          if (connection.waitingBytes > waitingMostBytes) connection.cut()
          else connection.write(text)
        },
        reset: (newestId) => {
          listener.lastId = newestId
          listener.write(Buffer.from(printReset(newestId, tooOld)))
        },
      }
      all.add(listener)
      const session = sessions.watch(actor, (now) => {
        if (!now) {
          connection.end()
          return
        }
        listener.hearing = hearingOf(now, also)
        listener.maySample = maySample(now)
      })
      const stopSamples = openSamples(listener, agents, organization)
      connection.onClose(() => {
        stopSamples()
        session.close()
        live.remove(listener)
        all.delete(listener)
      })
      const { after, reset } = start
      listener.write(Buffer.from(reset === null ? printComment(after) : printReset(after, reset)))
      if (closed) connection.end()
      else void join(listener) // never rejects
    },
    close: async () => {
      closed = true
      for (const { connection } of all) connection.end()
      await Promise.all(loops.map((loop) => loop.close()))
      await live.close()
    },
  }

  function requireListenerRoom(
    { accountId, organizationId }: Actor,
    organization: NamedQuotas | undefined,
  ): void {
    let [ofAccount, held] = [0, 0]
    for (const listener of all) {
      if (listener.accountId === accountId) ofAccount++
      if (listener.organizationId === organizationId) held++
    }
    if (ofAccount >= listenersOfAccount)
      throw limited(
        `this account listens to events ${listenersOfAccount} times here already; end some`,
      )
    if (all.size >= listenersMost)
      throw limited(
        `this coordinator has ${listenersMost} listeners of events already; try another one`,
      )
    if (!organization) return
    const { name, quotas } = organization
    if (held >= quotas.listeners)
      throw limited(describeFullQuota(name, 'listeners', quotas.listeners))
    if (!hasFairRoom({ total: listenersMost, used: all.size, held, wanted: 1 }))
      throw limited(
        describeFullShare(name, `the ${listenersMost} listeners of events of this coordinator`),
      )
  }

  /** Others may have taken the room since it was let in: when it comes back, it is told. */
  function hasRoomStill(actor: Actor, organization: NamedQuotas | undefined): boolean {
    try {
      requireListenerRoom(actor, organization)
      return true
    } catch {
      return false
    }
  }

  function openSamples(
    listener: Listener,
    agents: readonly LookedAtAgent[],
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
      return samples.open({ accountId, organizationId, organization, agents, isReady, write })
    } catch {
      // Others took the room since it was let in: when it comes back, it is told.
      connection.end()
      return () => undefined
    }
  }

  async function join(listener: Listener): Promise<void> {
    try {
      while (!listener.connection.isClosed) {
        const until = await live.readPosition()
        if (listener.lastId >= until && live.add(listener)) return
        await tellMissed(listener, until)
        await listener.connection.drain()
      }
    } catch (error) {
      log.warn({ err: error }, 'events that a listener missed cannot be read')
      listener.connection.cut()
    }
  }

  async function tellMissed(listener: Listener, until: number): Promise<void> {
    const { lastId: after, hearing } = listener
    const events = await readEventsFor(queries, hearing, { after, until, limit: missedAtOnce })
    // Asked afterwards: some may have been removed while they were read.
    const { oldest, newest } = await readEventBounds(queries)
    if ((oldest ?? newest + 1) > after + 1) {
      listener.reset(newest)
      return
    }
    const text = printEvents(events, hearing)
    listener.lastId = events.length < missedAtOnce ? until : (events.at(-1)?.id ?? until)
    if (text !== '') listener.connection.write(Buffer.from(text))
  }

  async function comment(): Promise<void> {
    for (const [index, listener] of [...live.listeners].entries()) {
      if (index % writesAtOnce === writesAtOnce - 1) await nextTurn()
      listener.write(Buffer.from(printComment(listener.lastId)))
    }
  }

  function expire(): void {
    const now = service.now()
    for (const { expiresAtMs, connection } of all) if (expiresAtMs <= now) connection.end()
  }
}

/** choices: 2, statistics: `stats` plus read on the object. */
function maySample(actor: Actor): boolean {
  return may(actor, 'stats', 'read') && may(actor, 'agent', 'read')
}

function limited(message: string): FleetError {
  return new FleetError('limited', 'event', message, { retryAfterSeconds })
}
