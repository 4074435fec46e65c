/** The desired state of each agent, kept as revision and content; recomposed whenever its placements change. */
import { sql } from 'kysely'
import { composeDesired } from '../domain/desired-engine.js'
import { groupBy } from '../domain/group-by.js'
import { readPlacements } from './placements.js'
import type { Queries } from './store.js'

/** Rows a statement; each has three parameters. */
const rowsPerStatement = 1000

/** Gives each of these agents whose composition changed its next revision; answers their ids. Call under the decision lock. */
export async function recomposeDesired(
  queries: Queries,
  agentIds: readonly number[],
): Promise<number[]> {
  const changed: { id: number; revision: number; desired: string }[] = []
  for (let start = 0; start < agentIds.length; start += rowsPerStatement) {
    const ids = agentIds.slice(start, start + rowsPerStatement)
    const placed = groupBy(
      await readPlacements(queries, { agentIds: ids }),
      (placement) => placement.agentId,
    )
    const agents = await queries
      .selectFrom('agents')
      .select(['id', 'desired', 'desiredRevision'])
      .where('id', 'in', ids)
      .execute()
    for (const agent of agents) {
      const desired = JSON.stringify(composeDesired(placed.get(agent.id) ?? []))
      if (desired === agent.desired) continue
      changed.push({ id: agent.id, revision: agent.desiredRevision + 1, desired })
    }
  }
  for (let start = 0; start < changed.length; start += rowsPerStatement)
    await writeRevisions(queries, changed.slice(start, start + rowsPerStatement))
  return changed.map((agent) => agent.id)
}

async function writeRevisions(
  queries: Queries,
  changed: readonly { id: number; revision: number; desired: string }[],
): Promise<void> {
  const rows = sql.join(
    changed.map(
      (agent) =>
        sql`(cast(${agent.id} as integer), cast(${agent.revision} as integer), ${agent.desired})`,
    ),
  )
  await sql`
    with changed(id, revision, desired) as (values ${rows})
    update agents set "desiredRevision" = changed.revision, desired = changed.desired
    from changed where agents.id = changed.id`.execute(queries)
}
