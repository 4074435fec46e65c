/** When agents were heard last, and which of them are silent. Their heartbeats: condition-queries.ts. */
import { sql, type RawBuilder } from 'kysely'
import { agentStates } from '../../resources/agent-state.js'
import type { Queries } from '../store/store.js'

/** Of a row of `agents`: when its last heartbeat arrived. */
export function lastHeartbeat(): RawBuilder<number> {
  return sql<number>`coalesce(
    (select at from heartbeats where "agentId" = agents.id and at > agents."lastHeartbeatAt"),
    agents."lastHeartbeatAt")`
}

/** Agents that are not Down, and without a heartbeat since this time. */
function silent(since: number): RawBuilder<boolean> {
  return sql<boolean>`agents.state <> ${agentStates.Down} and agents."lastHeartbeatAt" < ${since}
    and not exists (select 1 from heartbeats where "agentId" = agents.id and at >= ${since})`
}

/** Returns the agents that this call marked Down: each is returned to one caller only. */
export async function markSilentDown(
  queries: Queries,
  since: number,
  now: number,
): Promise<number[]> {
  const rows = await queries
    .updateTable('agents')
    .set({ state: agentStates.Down, lastStateChangeAt: now })
    .where(silent(since))
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

export async function countSilent(queries: Queries, since: number): Promise<number> {
  const { count } = await queries
    .selectFrom('agents')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where(silent(since))
    .executeTakeFirstOrThrow()
  return count
}
