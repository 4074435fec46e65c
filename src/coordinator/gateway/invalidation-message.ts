/** Composes messages from log entries: limited to the size of a message, one text for all agents with the same entries. */
import { shareMessage, type SharedMessage } from '../../messages/shared-message.js'
import {
  composeOrder,
  type ComposedOrder,
  type DeliverableEntry,
} from '../invalidations/invalidation-log.js'

/** An entry, and its part for one agent. */
interface AgentOrder {
  readonly entry: DeliverableEntry
  readonly composed: ComposedOrder
}

/** Half of a message's limit (docs/behaviour.md, Agent link). */
const messageBytes = 512 * 1024
/** How long an encoded message is reused. Its ages are too low by up to this, so at worst an unneeded entry is sent. */
const sharedMs = 20

/** Yields messages in order, without entries that are not for this agent. */
export function* cutMessages(
  entries: readonly DeliverableEntry[],
  agentId: number,
): Generator<readonly AgentOrder[]> {
  let message: AgentOrder[] = []
  let bytes = 0
  for (const entry of entries) {
    const composed = composeOrder(entry, agentId)
    if (!composed) continue
    if (message.length > 0 && bytes + composed.bytes > messageBytes) {
      yield message
      message = []
      bytes = 0
    }
    message.push({ entry, composed })
    bytes += composed.bytes
  }
  if (message.length > 0) yield message
}

interface MessagePlace {
  /** As in Invalidate. */
  readonly after: number
  readonly isRestart: boolean
}

type WriteMessage = (orders: readonly AgentOrder[], place: MessagePlace) => SharedMessage

/** Keeps the last text, because the agents of a fleet are served one after the other. */
export function createMessageWriter(now: () => number): WriteMessage {
  let last: {
    readonly orders: readonly AgentOrder[]
    readonly place: MessagePlace
    readonly writtenAt: number
    readonly message: SharedMessage
  } | null = null

  return (orders, place) => {
    const writtenAt = now()
    const isLast =
      last !== null &&
      writtenAt - last.writtenAt <= sharedMs &&
      last.place.after === place.after &&
      last.place.isRestart === place.isRestart &&
      areSame(last.orders, orders)
    if (last && isLast) return last.message
    const message = shareMessage({
      kind: 'invalidate',
      traceId: orders[0]?.entry.traceId ?? '',
      ...place,
      entries: orders.map(({ entry, composed }) => ({
        ...composed.order,
        ageMs: Math.max(0, writtenAt - entry.createdAt),
      })),
    })
    last = { orders, place, writtenAt, message }
    return message
  }
}

function areSame(some: readonly AgentOrder[], others: readonly AgentOrder[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ composed }, index) => composed === others[index]?.composed)
  )
}
