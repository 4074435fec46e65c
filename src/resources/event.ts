/** Events: what is told to whom (docs/behaviour.md, Events). An event's data is written once for all who hear it. */
import { may, type Actor } from './permission.js'

/** Each is also the permission type that hears it. */
export const eventTypes = ['agent', 'deployment', 'invalidation', 'apilog'] as const
/** Chosen by us: what people edit. Only who asks for them (`also=`) hears them, so that no other stream has more than it had. */
export const askedEventTypes = ['file', 'vclgroup', 'domain', 'tag'] as const
export type AskedEventType = (typeof askedEventTypes)[number]
export type EventType = (typeof eventTypes)[number] | AskedEventType

/** What is noted when it changes. Of a `group` it is how far it is: events of its deployments follow from that. */
export type ChangeKind = EventType | 'group'

export interface FleetEvent {
  /** Increasing without gaps, over all coordinators. */
  readonly id: number
  readonly type: EventType
  readonly organizationId: number | null
  /** JSON, for the owner and the system administrator. */
  readonly data: string
  /** JSON, for every organization: of shared agents. Null: for none. */
  readonly sharedData: string | null
}

/** What a listener may hear. */
export interface Hearing {
  /** Null: everybody's. */
  readonly organizationId: number | null
  readonly types: readonly EventType[]
}

export function hearingOf(actor: Actor, asked: readonly AskedEventType[] = []): Hearing {
  return {
    organizationId: actor.organizationId,
    types: [...eventTypes, ...asked].filter((type) => may(actor, type, 'read')),
  }
}

/** What the listener gets of the event; null: nothing. `visibleEvents` in the store is the same rule for rows. */
export function dataFor({ organizationId, types }: Hearing, event: FleetEvent): string | null {
  if (!types.includes(event.type)) return null
  if (organizationId === null || organizationId === event.organizationId) return event.data
  return event.sharedData
}

/**
 * From `Last-Event-ID`: the last event that the caller has. Undefined: it sent none, and begins now. Null: it is none of
 * ours.
 */
export function parseLastEventId(header: string | undefined): number | null | undefined {
  if (header === undefined || header === '') return undefined
  return /^(?:0|[1-9]\d{0,14})$/.test(header) ? Number(header) : null
}
