/** Rollouts: deploys that switch in waves, and how they went. */
import { flag, id, index, indexWhere, integer, owner, table, text } from './table.js'

export const rolloutTables = {
  rollouts: table(
    {
      id: id(),
      groupId: integer().references('vclGroups', 'cascade'),
      /** At its begin. */
      groupName: text(),
      organizationId: owner(),
      revision: integer(),
      fromRevision: integer(),
      action: text(),
      /** `resources/rollout.ts`. */
      state: integer(),
      /** The one that was begun last, from 1; 0: none. */
      wave: integer(),
      /** JSON of WaveRecord[]. */
      waves: text(),
      /** JSON of GateRecord[]. */
      gates: text(),
      /** JSON of RolloutPolicy. */
      policy: text(),
      /** JSON of Release: what it puts on caches, and what they go back to. */
      sources: text(),
      fromSources: text(),
      account: text(),
      traceId: text(),
      startedAt: integer(),
      endedAt: integer().orNull(),
      reason: text().orNull(),
      /** Somebody's word took it back. */
      aborted: flag(),
      /** Of the present bake, observed. */
      bakedMs: integer(),
      /** Counts what was decided: who decided by an older one writes nothing. */
      epoch: integer(),
    },
    {
      indexes: {
        group: index('groupId', 'id'),
        organization: index('organizationId', 'id'),
        ended: index('endedAt'),
        /** Asked again and again, and mostly there is none. */
        running: indexWhere('state > 1 and state < 6', 'groupId'),
      },
    },
  ),
}
