/** The invalidation log, whom its entries are for, and how far each agent is. */
import { flag, id, index, indexWhere, integer, owner, table, text, times } from './table.js'

/** Ended entries stay for days, and must not be read at each report. */
const isOpen = 'outcome is null'

export const invalidationTables = {
  /** One row: the newest position. Whoever appends holds it until the commit, so positions are committed in their order. */
  invalidationLog: table({ id: integer<1>().primaryKey(), position: integer() }),

  /** Agents with how far an entry reaches on each; entries that are alike share one. Immutable, but for agents that are deleted. */
  invalidationSets: table({
    id: id(),
    /** SHA-256 (hex) of its members. */
    digest: text().unique(),
  }),

  invalidationMembers: table(
    {
      setId: integer().references('invalidationSets', 'cascade'),
      agentId: integer().references('agents', 'cascade'),
      /** JSON of Reach. */
      reach: text(),
    },
    { primaryKey: ['setId', 'agentId'], indexes: { agent: index('agentId') } },
  ),

  /** How far an agent is in the log. */
  invalidationCursors: table({
    agentId: integer().references('agents', 'cascade').primaryKey(),
    position: integer(),
    movedAt: integer(),
    /** Why the next entry could not be done, to be tried again; null: nothing is wrong. */
    trouble: text().orNull(),
  }),

  invalidations: table(
    {
      id: id(),
      organizationId: owner('cascade'),
      /** In the log; a retry puts the entry at its end. */
      position: integer().unique(),
      type: text(),
      /** JSON of InvalidationContent. */
      content: text(),
      /** JSON of TargetRecord: what the caller named, as it was called then. */
      target: text(),
      /** JSON array of texts. */
      warnings: text(),
      account: text(),
      traceId: text(),
      ttlSeconds: integer(),
      ...times,
      expiresAt: integer(),
      /** All that it is about. */
      setId: integer().references('invalidationSets'),
      /** Those of them that have something to do since `position`. */
      attemptSetId: integer().references('invalidationSets'),
      /** Null: it goes on; else a state that is final unless it is retried. */
      outcome: integer().orNull(),
      finishedAt: integer().orNull(),
      /** One of its exceptions is not a success. */
      failed: flag(),
      /** JSON array of Exception. */
      exceptions: text(),
    },
    {
      indexes: {
        organization: index('organizationId'),
        created: index('createdAt'),
        organization_created: index('organizationId', 'createdAt'),
        set: index('setId'),
        attempt: index('attemptSetId'),
        finished: index('finishedAt'),
        open: indexWhere(isOpen, 'position'),
        expiry: indexWhere(isOpen, 'expiresAt'),
        open_attempt: indexWhere(isOpen, 'attemptSetId', 'position'),
        open_organization: indexWhere(isOpen, 'organizationId'),
      },
    },
  ),
}
