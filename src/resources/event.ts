/** Events and their visibility filter (docs/behaviour.md, Events). An event's data is encoded once for all its subscribers. */
import { may, type Actor, type PermissionType } from './permission.js'
import { bearerTypes, problemBearers, type ProblemBearer } from './problem.js'

export const eventTypes = ['agent', 'deployment', 'invalidation', 'apilog'] as const
/** Types of objects that users edit, and later types. They are opt-in (`also=`), so that older clients get nothing new. */
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
/** Problem events, by the object with the problem, which determines who may read them. Subscribers get all of them as `problem`. */
type ProblemEventType = `problem:${ProblemBearer}`
const problemEventTypes = bearerTypes.map((bearer) => `problem:${bearer}` as const)
export type EventType = (typeof eventTypes)[number] | OptInEventType | ProblemEventType

/** The permission types that reading an event requires, all of them. */
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

/** The event name that subscribers get. */
export function eventNameOf(type: EventType): string {
  return type.startsWith('problem:') ? 'problem' : type
}

/** The kinds of recorded changes. `group` is a change of a group's progress: events of its deployments follow from it. */
export type ChangeKind = Exclude<EventType, ProblemEventType> | 'group'

export interface FleetEvent {
  /** Increasing without gaps, over all coordinators. */
  readonly id: number
  readonly type: EventType
  readonly organizationId: number | null
  /** JSON, for the owner and the system administrator. */
  readonly data: string
  /** JSON for every organization, about shared agents. Null: for none. */
  readonly sharedData: string | null
}

/** The events that a subscriber gets. */
export interface EventFilter {
  /** Null: all organizations. */
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

/** The data that a subscriber gets; null: none. `visibleEvents` in the store implements the same rule for rows. */
export function dataFor({ organizationId, types }: EventFilter, event: FleetEvent): string | null {
  if (!types.includes(event.type)) return null
  if (organizationId === null || organizationId === event.organizationId) return event.data
  return event.sharedData
}

/**
 * Parses `Last-Event-ID`, the last event that the caller received. Undefined: none sent, it starts now. Null: not one of our
 * ids.
 */
export function parseLastEventId(header: string | undefined): number | null | undefined {
  if (header === undefined || header === '') return undefined
  return /^(?:0|[1-9]\d{0,14})$/.test(header) ? Number(header) : null
}
