/** Events: what is told to whom (choices: 2, events). An event's data is written once for all who hear it. */
import { may, type Actor } from './permission.js'

/** Each is also the permission type that hears it. */
export const eventTypes = ['agent', 'deployment', 'invalidation', 'apilog'] as const
export type EventType = (typeof eventTypes)[number]

/** What is noted when it changes. Events of deployments follow from groups too. */
export type ChangeKind = 'agent' | 'group' | 'deployment' | 'invalidation' | 'apilog'

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

export function hearingOf(actor: Actor): Hearing {
  return {
    organizationId: actor.organizationId,
    types: eventTypes.filter((type) => may(actor, type, 'read')),
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
