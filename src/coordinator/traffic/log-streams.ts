/** Starts, renews and ends log streams of several agents, whichever coordinators these are linked to. */
import { randomUUID } from 'node:crypto'
import type { LogEnded, LogLines, WantedLog } from '../../messages/live-log.js'
import { startLoop } from '../../runtime/loop.js'
import type { Bus, Subscription } from '../bus/bus.js'
import { logOrderSubject, logPartSubject, type LogPart } from '../bus/subjects.js'

export interface AskedLog {
  readonly agentId: number
  readonly wanted: WantedLog
}

export interface LogStreams {
  /** The number of cache logs read here, counted once per reader. */
  readonly size: number
  /** Streams until the returned function is called. */
  open(asked: readonly AskedLog[], onPart: (part: LogPart) => void): () => void
  close(): Promise<void>
}

/** The lease sent to an agent and its renewal: one lost message ends nothing; without a reader the agent stops by itself. */
const leaseMs = 30_000
const renewEveryMs = 10_000
/** A hint that is shared between processes is limited in size. */
const ordersPerHint = 50
/**
 * The limit over all streams, twice that of one reader: a line takes some 15 µs of the thread that deploys and heartbeats need.
 */
const maxLinesPerSecond = 10_000

type Receive = (part: LogPart) => void
/** The receivers of one agent's log, by stream: one bus subscription serves all readers. */
interface Subscribed {
  readonly receivers: Map<string, Receive>
  readonly subscription: Subscription
}

export function createLogStreams(bus: Bus): LogStreams {
  const open = new Map<string, readonly AskedLog[]>()
  const subscribed = new Map<number, Subscribed>()
  const count = (): number => [...open.values()].reduce((sum, asked) => sum + asked.length, 0)
  const renewing = startLoop({
    log: null,
    everyMs: null,
    pass: ({ nextIn }) => {
      const most = shareOf(count())
      for (const [stream, asked] of open)
        publishOrders(bus, stream, asked, { most, forMs: leaseMs })
      nextIn(open.size > 0 ? renewEveryMs : null)
    },
  })
  const subscribe = (agentId: number, stream: string, receive: Receive): void => {
    const known = subscribed.get(agentId)
    if (known) {
      known.receivers.set(stream, receive)
      return
    }
    const receivers = new Map([[stream, receive]])
    const subscription = bus.subscribe(logPartSubject(agentId), (part) => {
      receivers.get(part.stream)?.(part)
    })
    subscribed.set(agentId, { receivers, subscription })
  }
  const unsubscribe = (agentId: number, stream: string): void => {
    const known = subscribed.get(agentId)
    known?.receivers.delete(stream)
    if (known?.receivers.size !== 0) return
    known.subscription.close()
    subscribed.delete(agentId)
  }
  return {
    get size() {
      return count()
    },
    open: (asked, onPart) => {
      const stream = randomUUID()
      for (const { agentId } of asked) subscribe(agentId, stream, onPart)
      open.set(stream, asked)
      publishOrders(bus, stream, asked, { most: shareOf(count()), forMs: leaseMs })
      renewing.wake(renewEveryMs)
      return () => {
        if (!open.delete(stream)) return
        for (const { agentId } of asked) unsubscribe(agentId, stream)
        publishOrders(bus, stream, asked, { most: 1, forMs: 0 })
      }
    },
    close: () => renewing.close(),
  }
}

/** The line limit of each stream; existing streams get it at their next renewal. */
function shareOf(streams: number): number {
  return Math.max(1, Math.floor(maxLinesPerSecond / streams))
}

interface OrderLimits {
  /** Lines per second and stream. */
  readonly most: number
  readonly forMs: number
}

function publishOrders(
  bus: Bus,
  stream: string,
  asked: readonly AskedLog[],
  { most, forMs }: OrderLimits,
): void {
  const orders = asked.map(({ agentId, wanted }) => {
    const linesPerSecond = Math.min(wanted.linesPerSecond, most)
    return { agentId, stream, forMs, wanted: { ...wanted, linesPerSecond } }
  })
  for (let from = 0; from < orders.length; from += ordersPerHint)
    bus.publish(logOrderSubject, { orders: orders.slice(from, from + ordersPerHint) })
}

/** Publishes a log message that an agent session received. */
export function publishLogPart(bus: Bus, agentId: number, message: LogLines | LogEnded): void {
  const { stream } = message
  const part =
    message.kind === 'logEnded'
      ? { transactions: [], dropped: 0, ended: message.reason }
      : { transactions: message.transactions, dropped: message.dropped, ended: null }
  bus.publish(logPartSubject(agentId), { agentId, stream, ...part })
}
