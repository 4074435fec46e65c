/** Rollouts: deploys that switch in waves, and how they went. */
import { flag, id, index, indexWhere, integer, owner, table, text } from './table.js'

export const rolloutTables = {
  rollouts: table(
    {
      id: id(),
      groupId: integer().references('vclGroups', 'cascade'),
      /** The group's name when the rollout started. */
      groupName: text(),
      organizationId: owner(),
      revision: integer(),
      fromRevision: integer(),
      action: text(),
      /** `resources/rollout.ts`. */
      state: integer(),
      /** The wave started last, from 1; 0: none. */
      wave: integer(),
      /** JSON of WaveRecord[]. */
      waves: text(),
      /** JSON of GateRecord[]. */
      gates: text(),
      /** JSON of RolloutPolicy. */
      policy: text(),
      /** JSON of Release: the release that it rolls out, and the one that caches roll back to. */
      sources: text(),
      fromSources: text(),
      account: text(),
      traceId: text(),
      startedAt: integer(),
      endedAt: integer().orNull(),
      reason: text().orNull(),
      /** A user rolled it back. */
      aborted: flag(),
      /** Observed time of the current bake. */
      bakedMs: integer(),
      /** Counts decisions: one based on an older epoch writes nothing. */
      epoch: integer(),
    },
    {
      indexes: {
        group: index('groupId', 'id'),
        organization: index('organizationId', 'id'),
        ended: index('endedAt'),
        /** Queried all the time; usually there are no such rows. */
        running: indexWhere('state > 1 and state < 6', 'groupId'),
      },
    },
  ),
}
