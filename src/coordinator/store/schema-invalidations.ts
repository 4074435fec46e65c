/** The tables of the invalidation log (`schema.ts`). */
import type { Generated } from 'kysely'

type Flag = 0 | 1

/** One row: the newest position. Whoever appends holds it until the commit, so positions are committed in their order. */
export interface InvalidationLogTable {
  id: 1
  position: number
}

export interface InvalidationsTable {
  id: Generated<number>
  organizationId: number | null
  /** In the log; a retry puts the entry at its end. */
  position: number
  type: string
  /** JSON of InvalidationContent. */
  content: string
  /** JSON of TargetRecord: what the caller named, as it was called then. */
  target: string
  /** JSON array of texts. */
  warnings: string
  account: string
  traceId: string
  ttlSeconds: number
  createdAt: number
  updatedAt: number
  expiresAt: number
  /** All that it is about. */
  setId: number
  /** Those of them that have something to do since `position`. */
  attemptSetId: number
  /** Null: it goes on; else a state that is final unless it is retried. */
  outcome: number | null
  finishedAt: number | null
  /** One of its exceptions is no success. */
  failed: Flag
  /** JSON array of Exception. */
  exceptions: string
}

/** Agents with how far an entry reaches on each; entries that are alike share one. Immutable, but for agents that are deleted. */
export interface InvalidationSetsTable {
  id: Generated<number>
  /** SHA-256 (hex) of its members. */
  digest: string
}

export interface InvalidationMembersTable {
  setId: number
  agentId: number
  /** JSON of Reach. */
  reach: string
}

/** How far an agent is in the log. */
export interface InvalidationCursorsTable {
  agentId: number
  position: number
  movedAt: number
  /** Why the next entry could not be done, to be tried again; null: nothing is wrong. */
  trouble: string | null
}

export interface InvalidationTables {
  invalidationLog: InvalidationLogTable
  invalidations: InvalidationsTable
  invalidationSets: InvalidationSetsTable
  invalidationMembers: InvalidationMembersTable
  invalidationCursors: InvalidationCursorsTable
}
