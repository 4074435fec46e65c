/** Streams of several agents' logs, wherever in the fleet of coordinators those are linked: begun, renewed, ended. */
import { randomUUID } from 'node:crypto'
import type { LogEnded, LogLines, WantedLog } from '../../messages/live-log.js'
import { startLoop } from '../../runtime/loop.js'
import type { Bus } from '../bus/bus.js'
import { logOrderSubject, logPartSubject, type LogPart } from '../bus/subjects.js'

export interface AskedLog {
  readonly agentId: number
  readonly wanted: WantedLog
}

export interface LogStreams {
  /** Until the answered function is called. */
  open(asked: readonly AskedLog[], onPart: (part: LogPart) => void): () => void
  close(): Promise<void>
}

/** What an agent is told, and how often again: one lost message ends nothing, and an agent whose reader is gone stops by itself. */
const forMs = 30_000
const renewEveryMs = 10_000
/** A hint that is shared between processes has a bound. */
const ordersPerHint = 50

export function createLogStreams(bus: Bus): LogStreams {
  const open = new Map<string, readonly AskedLog[]>()
  const renewing = startLoop({
    log: null,
    everyMs: null,
    pass: ({ nextIn }) => {
      for (const [stream, asked] of open) publishOrders(bus, stream, asked, forMs)
      nextIn(open.size > 0 ? renewEveryMs : null)
    },
  })
  return {
    open: (asked, onPart) => {
      const stream = randomUUID()
      const subscriptions = asked.map(({ agentId }) =>
        bus.subscribe(logPartSubject(agentId), (part) => {
          if (part.stream === stream) onPart(part)
        }),
      )
      open.set(stream, asked)
      publishOrders(bus, stream, asked, forMs)
      renewing.wake(renewEveryMs)
      return () => {
        if (!open.delete(stream)) return
        for (const subscription of subscriptions) subscription.close()
        publishOrders(bus, stream, asked, 0)
      }
    },
    close: () => renewing.close(),
  }
}

function publishOrders(bus: Bus, stream: string, asked: readonly AskedLog[], ms: number): void {
  for (let from = 0; from < asked.length; from += ordersPerHint) {
    const some = asked.slice(from, from + ordersPerHint)
    bus.publish(logOrderSubject, { orders: some.map((one) => ({ ...one, stream, forMs: ms })) })
  }
}

/** What a session got of its agent. */
export function publishLogPart(bus: Bus, agentId: number, message: LogLines | LogEnded): void {
  const { stream } = message
  const part =
    message.kind === 'logEnded'
      ? { transactions: [], dropped: 0, ended: message.reason }
      : { transactions: message.transactions, dropped: message.dropped, ended: null }
  bus.publish(logPartSubject(agentId), { agentId, stream, ...part })
}
