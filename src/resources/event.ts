/** Events, and who gets which (docs/behaviour.md, Events). An event's data is encoded once for all its subscribers. */
import { may, type Actor, type PermissionType } from './permission.js'
import { bearerTypes, problemBearers, type ProblemBearer } from './problem.js'

export const eventTypes = ['agent', 'deployment', 'invalidation', 'apilog'] as const
/** Types of objects that users edit, and what came later. They are opt-in (`also=`), so that older clients get nothing new. */
export const optInEventTypes = [
  'file',
  'vclgroup',
  'domain',
  'tag',
  'certificate',
  'backend',
  'webhook',
  'rollout',
] as const
export type OptInEventType = (typeof optInEventTypes)[number]
/** Of a problem, by what bears it, since that decides who may read it. Subscribers get all of them as `problem`. */
type ProblemEventType = `problem:${ProblemBearer}`
const problemEventTypes = bearerTypes.map((bearer) => `problem:${bearer}` as const)
export type EventType = (typeof eventTypes)[number] | OptInEventType | ProblemEventType

/** What must be readable, all of it. */
export const readBy: Readonly<Record<EventType, readonly PermissionType[]>> = {
  agent: ['agent'],
  deployment: ['deployment'],
  invalidation: ['invalidation'],
  apilog: ['apilog'],
  file: ['file'],
  vclgroup: ['vclgroup'],
  domain: ['domain'],
  tag: ['tag'],
  certificate: ['certificate'],
  backend: ['agent', 'vclgroup'],
  webhook: ['webhook'],
  rollout: ['vclgroup'],
  'problem:agent': [problemBearers.agent],
  'problem:deployment': [problemBearers.deployment],
  'problem:vclgroup': [problemBearers.vclgroup],
  'problem:stage': [problemBearers.stage],
  'problem:invalidation': [problemBearers.invalidation],
  'problem:certificate': [problemBearers.certificate],
  'problem:webhook': [problemBearers.webhook],
  'problem:rollout': [problemBearers.rollout],
}

/** As subscribers get it. */
export function eventNameOf(type: EventType): string {
  return type.startsWith('problem:') ? 'problem' : type
}

/** What is noted when it changes. Of a `group` it is how far it is: events of its deployments follow from that. */
export type ChangeKind = Exclude<EventType, ProblemEventType> | 'group'

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

/** The events that a subscriber gets. */
export interface EventFilter {
  /** Null: everybody's. */
  readonly organizationId: number | null
  readonly types: readonly EventType[]
}

export function eventFilterOf(actor: Actor, asked: readonly OptInEventType[] = []): EventFilter {
  return {
    organizationId: actor.organizationId,
    types: [...eventTypes, ...problemEventTypes, ...asked].filter((type) =>
      readBy[type].every((needed) => may(actor, needed, 'read')),
    ),
  }
}

/** What a subscriber gets of the event; null: nothing. `visibleEvents` in the store is the same rule for rows. */
export function dataFor({ organizationId, types }: EventFilter, event: FleetEvent): string | null {
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
