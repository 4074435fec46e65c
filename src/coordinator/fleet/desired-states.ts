/** The desired state of each agent, stored as revision and content; recomposed whenever its placements change. */
import { sql } from 'kysely'
import { composeDesired } from '../../vcl/desired-engine.js'
import { groupBy } from '../../group-by.js'
import { readDesiredCertificates } from './certificate-places.js'
import { divideAlike } from './divide-alike.js'
import { findOldestPrevious, loadedLimit } from './loaded-limit.js'
import { readSettings } from './setting-queries.js'
import { listIds, prepareGiven, writeIds } from '../store/given-rows.js'
import {
  readPlacements,
  readWith,
  savePlacements,
  type KnownPlacements,
  type PlacementRecord,
} from './placement-queries.js'
import { keepRoutings, type AgentRoutings } from './routings.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'

interface Recomposed {
  readonly anew?: ReadonlySet<number>
  readonly known?: KnownPlacements | undefined
}

/**
 * Gives each of these agents whose composition changed its next revision; returns their ids. Agents in `anew` always get
 * one, so that they retry and report. `known`: what one holder's rows of these agents hold now, which are then not read. Call
 * under the decision lock.
 */
export async function recomposeDesired(
  queries: Queries,
  agentIds: readonly number[],
  { anew = new Set(), known }: Recomposed = {},
): Promise<number[]> {
  const read = known ? readWith(known) : readOf
  const changed = await inPieces(agentIds, (ids) => composeSome(queries, { ids, anew, read }))
  await keepRoutings(queries, changed)
  await writeRevisions(queries, changed)
  return changed.map(({ agentId }) => agentId)
}

interface Composed extends AgentRoutings {
  readonly revision: number
  /** JSON of DesiredEngine. */
  readonly desired: string
}

type ReadPlaces = (queries: Queries, agentIds: readonly number[]) => Promise<PlacementRecord[]>

function readOf(queries: Queries, agentIds: readonly number[]): Promise<PlacementRecord[]> {
  return readPlacements(queries, { agentIds })
}

interface Piece {
  readonly ids: readonly number[]
  readonly anew: ReadonlySet<number>
  readonly read: ReadPlaces
}

async function composeSome(
  queries: Queries,
  { ids: agentIds, anew, read }: Piece,
): Promise<readonly Composed[]> {
  const placed = groupBy(await read(queries, agentIds), ({ agentId }) => agentId)
  const settings = await readSettings(queries, agentIds, placed)
  const certificates = await readDesiredCertificates(queries, agentIds)
  const agents = await queries
    .selectFrom('agents')
    .select(['id', 'organizationId', 'desired', 'desiredRevision'])
    .where('id', 'in', listIds(agentIds))
    .execute()
  const changed: Composed[] = []
  for (const agent of agents) {
    const { id: agentId, desiredRevision } = agent
    const places = await limitLoaded(queries, placed.get(agentId) ?? [])
    const composed = composeDesired(places, agent)
    const own = certificates.get(agentId)
    const desired = JSON.stringify({
      ...composed.desired,
      ...settings.get(agentId),
      ...(own && { certificates: own }),
    })
    if (desired === agent.desired && !anew.has(agentId)) continue
    const { routings } = composed
    changed.push({ agentId, revision: desiredRevision + 1, desired, routings })
  }
  return changed
}

/** While an agent has more managed VCLs than allowed, discards the oldest previous revisions (docs/behaviour.md, Loaded VCLs). */
async function limitLoaded(
  queries: Queries,
  places: readonly PlacementRecord[],
): Promise<readonly PlacementRecord[]> {
  // A group has three VCLs at most; in addition there are the idle VCL and two for routing.
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

/** The agents of a deploy mostly get the same: then it is passed to the database once. */
async function writeRevisions(queries: Queries, changed: readonly Composed[]): Promise<void> {
  const { alike, others } = divideAlike(
    changed,
    ({ revision, desired }) => `${revision} ${desired}`,
  )
  for (const agents of alike) {
    const [{ revision, desired }] = agents
    const agentIds = agents.map(({ agentId }) => agentId)
    await inPieces(agentIds, (ids) => updateAlike(queries, [revision, desired, writeIds(ids)]))
  }
  await updateRevisions(
    queries,
    others.map(({ agentId, revision, desired }) => ({ agentId, revision, desired })),
  )
}

const updateAlike = prepareQuery((queries) =>
  queries
    .updateTable('agents')
    .set({ desiredRevision: 0, desired: '' })
    .where('id', 'in', listIds([])),
)

const updateRevisions = prepareGiven(
  { agentId: 'bigint', revision: 'bigint', desired: 'text' },
  (given) => sql`
    update agents set "desiredRevision" = ${given.revision}, desired = ${given.desired}
    ${given.from} where agents.id = ${given.agentId}`,
)
