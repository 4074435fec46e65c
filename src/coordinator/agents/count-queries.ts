/** Agents by state, counted by the database. */
import { sql } from 'kysely'
import { visibleAgents, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export async function countAgentsByState(
  queries: Queries,
  scope: Scope,
): Promise<ReadonlyMap<number, number>> {
  const rows = await queries
    .selectFrom('agents')
    .select(['state', sql<number>`count(*)`.as('count')])
    .where(visibleAgents(scope))
    .groupBy('state')
    .execute()
  return new Map(rows.map(({ state, count }) => [state, count]))
}
