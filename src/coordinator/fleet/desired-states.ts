/** The desired state of each agent, kept as revision and content; recomposed whenever its placements change. */
import { sql } from 'kysely'
import { composeDesired } from '../../vcl/desired-engine.js'
import { groupBy } from '../../group-by.js'
import { findOldestPrevious, loadedLimit } from './loaded-limit.js'
import { readSettings } from './setting-queries.js'
import { listGiven } from '../store/given-rows.js'
import { readPlacements, savePlacements, type PlacementRecord } from './placement-queries.js'
import { keepRoutings, type AgentRoutings } from './routings.js'
import type { Queries } from '../store/store.js'

/** Rows a statement; each has three parameters. */
const rowsPerStatement = 1000

/**
 * Gives each of these agents whose composition changed its next revision; answers their ids. Those of `anew` get one in
 * any case, so that they try again and report. Call under the decision lock.
 */
export async function recomposeDesired(
  queries: Queries,
  agentIds: readonly number[],
  { anew = new Set() }: { readonly anew?: ReadonlySet<number> } = {},
): Promise<number[]> {
  const changed: { id: number; revision: number; desired: string }[] = []
  const routed: AgentRoutings[] = []
  for (let start = 0; start < agentIds.length; start += rowsPerStatement) {
    const ids = agentIds.slice(start, start + rowsPerStatement)
    const placed = groupBy(
      await readPlacements(queries, { agentIds: ids }),
      (placement) => placement.agentId,
    )
    const settings = await readSettings(queries, ids, placed)
    const agents = await queries
      .selectFrom('agents')
      .select(['id', 'organizationId', 'desired', 'desiredRevision'])
      .where('id', 'in', ids)
      .execute()
    for (const agent of agents) {
      const places = await limitLoaded(queries, placed.get(agent.id) ?? [])
      const composed = composeDesired(places, agent)
      const desired = JSON.stringify({ ...composed.desired, ...settings.get(agent.id) })
      if (desired === agent.desired && !anew.has(agent.id)) continue
      routed.push({ agentId: agent.id, routings: composed.routings })
      changed.push({ id: agent.id, revision: agent.desiredRevision + 1, desired })
    }
  }
  await keepRoutings(queries, routed)
  for (let start = 0; start < changed.length; start += rowsPerStatement)
    await writeRevisions(queries, changed.slice(start, start + rowsPerStatement))
  return changed.map((agent) => agent.id)
}

/** While more VCLs of ours are wanted on an agent than may be, the oldest previous revisions go (choices: 3, Deploy). */
async function limitLoaded(
  queries: Queries,
  places: readonly PlacementRecord[],
): Promise<readonly PlacementRecord[]> {
  // A group has three VCLs at most; beside them are the idle VCL and two for routing.
  if (places.length * 3 + 3 <= loadedLimit) return places
  const loaded = composeDesired(places, { organizationId: null }).desired.load.length + 1
  const dropped = new Set(findOldestPrevious(places, loaded))
  const limited = places.map((place) => (dropped.has(place) ? { ...place, previous: null } : place))
  await savePlacements(
    queries,
    limited.filter((place, index) => place !== places[index]),
  )
  return limited
}

async function writeRevisions(
  queries: Queries,
  changed: readonly { id: number; revision: number; desired: string }[],
): Promise<void> {
  const rows = changed.map(({ id, revision, desired }) => [id, revision, desired])
  await sql`
    with changed(id, revision, desired) as (values ${listGiven(['bigint', 'bigint', 'text'], rows)})
    update agents set "desiredRevision" = changed.revision, desired = changed.desired
    from changed where agents.id = changed.id`.execute(queries)
}
