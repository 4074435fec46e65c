/** The tables of events: what changed and is still to be told, what was told in the last hour, and its count. */
import type { Generated } from 'kysely'
import type { ChangeKind } from '../../resources/event.js'

type Flag = 0 | 1

/** Written by triggers, in the transaction of what changed; gone once it is told. */
export interface ChangesTable {
  /** May be committed in another order. */
  id: Generated<number>
  kind: ChangeKind
  objectId: number
  deleted: Generated<Flag>
  /** Of what was deleted: nothing else knows it any more. */
  organizationId: number | null
}

export interface EventsTable {
  /** From `eventCounter`: without gaps, in the order of the commits. */
  id: number
  createdAt: number
  type: string
  organizationId: number | null
  /** Events about the same have the same; null: each is about something of its own. */
  about: string | null
  /** JSON as the API shows it to the owner and the system administrator. */
  data: string
  /** JSON as the API shows it to every organization; null: to none. */
  sharedData: string | null
}

/** One row; whoever makes events holds its lock until its commit. */
export interface EventCounterTable {
  id: number
  /** The newest event's id; 0 before the first. */
  last: number
}
