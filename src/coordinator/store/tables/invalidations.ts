/** The invalidation log, the agents its entries target, and the progress of each agent. */
import { flag, id, index, indexWhere, integer, owner, table, text, times } from './table.js'

/** Finished entries stay for days and must not be read at each report. */
const isOpen = 'outcome is null'

export const invalidationTables = {
  /** One row: the newest position. Appending locks it until the commit, so positions are committed in order. */
  invalidationLog: table({ id: integer<1>().primaryKey(), position: integer() }),

  /** Agents and an entry's reach on each; entries with equal members share a set. Immutable, except for deleted agents. */
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

  /** An agent's position in the log. */
  invalidationCursors: table({
    agentId: integer().references('agents', 'cascade').primaryKey(),
    position: integer(),
    movedAt: integer(),
    /** Why the next entry failed and will be retried; null: no error. */
    trouble: text().orNull(),
  }),

  invalidations: table(
    {
      id: id(),
      organizationId: owner('cascade'),
      /** Position in the log; a retry moves the entry to its end. */
      position: integer().unique(),
      type: text(),
      /** JSON of InvalidationContent. */
      content: text(),
      /** JSON of TargetRecord: the target that the caller named, with its name at that time. */
      target: text(),
      /** JSON array of texts. */
      warnings: text(),
      account: text(),
      traceId: text(),
      ttlSeconds: integer(),
      ...times,
      expiresAt: integer(),
      /** All targeted agents. */
      setId: integer().references('invalidationSets'),
      /** The targeted agents that must process it at `position`. */
      attemptSetId: integer().references('invalidationSets'),
      /** Null: in progress; otherwise a state that is final unless the entry is retried. */
      outcome: integer().orNull(),
      finishedAt: integer().orNull(),
      /** At least one of its exceptions is a failure. */
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
