/** The agents as placement sees them: state, tags, and the placements of groups there. */
import { setImmediate as servedOthers } from 'node:timers/promises'
import type { AgentState } from '../../resources/agent-state.js'
import type { CacheRelease } from '../../resources/cache-release.js'
import { holderId, type PlacementAgent } from './agent-index.js'
import { groupBy } from '../../group-by.js'
import { visibleAgents, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface FleetAgent extends PlacementAgent {
  readonly name: string
  readonly organizationId: number | null
  readonly lastStateChangeAt: number
  readonly release: CacheRelease
  /** Its cache was restarted, and what failed there was not retried yet. */
  readonly cacheRestarted: boolean
}

/** An organization's groups use its own agents and the shared ones. */
export function isUsableBy(
  owner: number | null,
  { organizationId }: Pick<FleetAgent, 'organizationId'>,
): boolean {
  return owner === null || organizationId === null || organizationId === owner
}

/** A range of agents in the order of their ids. */
interface Stretch {
  readonly afterId: number
  readonly limit: number
}

/** This many are read within a few milliseconds. */
const agentsInStretch = 500

/** `readFleet` for callers that make no decision from it: in stretches with a pause after each, as the fleet may be large. */
export async function* readFleetInStretches(
  queries: Queries,
  scope: Scope,
): AsyncGenerator<readonly FleetAgent[], void, void> {
  for (let afterId = 0; ;) {
    const agents = await readFleet(queries, scope, { afterId, limit: agentsInStretch })
    yield agents
    const last = agents.at(-1)
    if (last === undefined || agents.length < agentsInStretch) return
    afterId = last.id
    await servedOthers()
  }
}

/** Three queries, however many agents there are. */
export async function readFleet(
  queries: Queries,
  scope: Scope,
  stretch?: Stretch,
): Promise<FleetAgent[]> {
  let selected = queries
    .selectFrom('agents')
    .leftJoin('groupMembers', 'groupMembers.agentId', 'agents.id')
    .select([
      'id',
      'name',
      'organizationId',
      'state',
      'lastStateChangeAt',
      'cacheRestarted',
      'adopting',
      'draining',
      'engineProduct',
      'engineVersion',
      'groupMembers.groupId as memberOf',
    ])
    .where(visibleAgents(scope))
    .orderBy('id')
  if (stretch) selected = selected.where('id', '>', stretch.afterId).limit(stretch.limit)
  const agents = await selected.execute()
  let tagged = queries.selectFrom('agentTags').select(['agentId', 'tagId'])
  if (stretch) tagged = tagged.where((e) => e.between('agentId', ...idRangeOf(agents)))
  const tags = groupBy(await tagged.execute(), (row) => row.agentId)
  let placed = queries
    .selectFrom('placements')
    .select(['placements.agentId', 'placements.groupId', 'placements.stage'])
    .select(['currentName', 'currentFqdns', 'candidateName', 'candidateFqdns', 'replacedBy'])
    // A VCL that failed before it ever served holds no placement.
    .where((e) =>
      e.or([
        e('placements.currentName', 'is not', null),
        e('placements.candidateName', 'is not', null),
      ]),
    )
  if (stretch) placed = placed.where((e) => e.between('placements.agentId', ...idRangeOf(agents)))
  const groups = groupBy(await placed.execute(), (row) => row.agentId)
  const fleet: FleetAgent[] = []
  for (const agent of agents) {
    if (fleet.length > 0 && fleet.length % agentsInStretch === 0) await servedOthers()
    const held = groups.get(agent.id) ?? []
    fleet.push({
      id: agent.id,
      name: agent.name,
      organizationId: agent.organizationId,
      lastStateChangeAt: agent.lastStateChangeAt,
      memberOf: agent.memberOf,
      cacheRestarted: agent.cacheRestarted === 1,
      adopting: agent.adopting === 1,
      draining: agent.draining !== null,
      release: { product: agent.engineProduct, version: agent.engineVersion },
      state: agent.state as AgentState, // written by the heartbeat and registration use cases only
      tagIds: (tags.get(agent.id) ?? []).map((row) => row.tagId),
      groupIds: held.map(holderOf),
      rootGroupId: findRoot(held),
      replacedBy: findReplaced(held),
    })
  }
  return fleet
}

/** The lowest and the highest id. */
function idRangeOf(agents: readonly { readonly id: number }[]): [number, number] {
  return [agents[0]?.id ?? 0, agents.at(-1)?.id ?? 0]
}

/** While a root group is being replaced there are two: the replacing one counts. */
function findRoot(held: readonly (RootPlacement & Held)[]): number | null {
  const stays = held.find((place) => place.replacedBy === null && isRoot(place))
  const root = stays ?? held.find(isRoot)
  return root ? holderOf(root) : null
}

function findReplaced(held: readonly Held[]): ReadonlyMap<number, number> | undefined {
  if (held.every(({ replacedBy }) => replacedBy === null)) return undefined
  return new Map(
    held.flatMap((place) =>
      place.replacedBy === null ? [] : [[holderOf(place), place.replacedBy] as const],
    ),
  )
}

function holderOf({ groupId, stage }: Held): number {
  return holderId({ groupId, stage: stage === 1 })
}

interface Held {
  readonly groupId: number
  readonly stage: number
  readonly replacedBy: number | null
}

interface RootPlacement {
  readonly currentName: string | null
  readonly currentFqdns: string | null
  readonly candidateName: string | null
  readonly candidateFqdns: string | null
}

/** Changes of the group's fields take effect at its next deploy; what counts here is the VCL on the cache. */
function isRoot(place: RootPlacement): boolean {
  const { currentName, currentFqdns, candidateName, candidateFqdns } = place
  return (
    (currentName !== null && currentFqdns === null) ||
    (candidateName !== null && candidateFqdns === null)
  )
}
