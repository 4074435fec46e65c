/**
 * The generated VCL that routes to a group on each agent: the desired one where the group or its stage serves, or the one that
 * a deploy of the group would make now. An organization sees only its own groups and names in it.
 */
import { groupBy } from '../../group-by.js'
import type { Actor } from '../../resources/permission.js'
import { composeRouting, type PlacedPrograms } from '../../vcl/desired-engine.js'
import { readDeploymentsOf } from '../fleet/deployment-queries.js'
import { readGroupPlacements } from '../fleet/group-placements.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { planPlacement } from '../placement/placement-plan.js'
import type { PlannedPlacement } from '../placement/plan-schemas.js'
import type { StateService } from '../service.js'
import type { NamedReference } from '../store/owner.js'

interface AgentRouting {
  readonly agent: NamedReference
  readonly source: string
}

type Viewer = Pick<Actor, 'organizationId'>

/** Returns none for a group whose VCL is the whole VCL of its caches. */
export async function readGroupRouting(
  service: StateService,
  viewer: Viewer,
  group: Pick<GroupRecord, 'id'>,
): Promise<AgentRouting[]> {
  const places = await readGroupPlacements(service.store.queries, [group.id], { withStages: true })
  // A group and its stage may share an agent.
  const agents = new Map(places.map(({ agentId, agentName }) => [agentId, agentName]))
  const placements = await readSeen(service, viewer, [...agents.keys()])
  return [...agents].flatMap(([id, name]) => {
    const seen = placements.get(id) ?? []
    const isRouted = seen.some(({ groupId, current }) => groupId === group.id && current?.fqdns)
    const source = isRouted ? routingOf(seen) : null
    return source === null ? [] : [{ agent: { id, name }, source }]
  })
}

/** Omits agents that would route nothing. */
export async function readNextRouting(
  service: StateService,
  actor: Actor,
  group: GroupRecord,
): Promise<AgentRouting[]> {
  if (group.domains.length === 0) return []
  const agents = await foreseeAgents(service, actor, group)
  const fqdns = group.domains.map(({ fqdn }) => fqdn)
  const changes = await compareRouting(service, actor, { group, agents, fqdns })
  return changes.flatMap(({ agent, to }) => (to === null ? [] : [{ agent, source: to }]))
}

interface NextPlacements {
  readonly group: Pick<GroupRecord, 'id' | 'organizationId'>
  readonly agents: readonly PlannedPlacement[]
  /** Empty: the group's VCL is the whole VCL of its caches. */
  readonly fqdns: readonly string[]
  /** True: its stage ends, too. */
  readonly endsStage?: boolean
}

interface RoutingChange {
  readonly agent: NamedReference
  /** The routing VCL; null: nothing is routed. */
  readonly from: string | null
  readonly to: string | null
}

/** Returns for each agent the routing VCL that is desired now and the one that would be. */
export async function compareRouting(
  service: StateService,
  viewer: Viewer,
  { group, agents, fqdns, endsStage = false }: NextPlacements,
): Promise<readonly RoutingChange[]> {
  const placements = await readSeen(
    service,
    viewer,
    agents.map(({ agent }) => agent.id),
  )
  return agents.map(({ agent, deployment, replaces }) => {
    const seen = placements.get(agent.id) ?? []
    const leaving = new Set(replaces.map(({ id }) => id))
    const others = seen.filter(({ groupId, stage }) =>
      groupId === group.id ? stage && !endsStage : !leaving.has(groupId),
    )
    const own = deployment === null ? [] : [placeNext(group, fqdns)]
    return { agent, from: routingOf(seen), to: routingOf([...others, ...own]) }
  })
}

/** Returns by agent the placements that the viewer's organization may see. */
async function readSeen(
  service: StateService,
  { organizationId: viewer }: Viewer,
  agentIds: readonly number[],
): Promise<ReadonlyMap<number, readonly PlacementRecord[]>> {
  if (agentIds.length === 0) return new Map() // PostgreSQL has no empty `in ()`
  const placements = await readPlacements(service.store.queries, { agentIds })
  const seen = placements.filter(
    ({ organizationId }) => viewer === null || organizationId === viewer,
  )
  return groupBy(seen, ({ agentId }) => agentId)
}

function routingOf(placed: readonly PlacedPrograms[]): string | null {
  return composeRouting(placed)?.text ?? null
}

async function foreseeAgents(
  service: StateService,
  actor: Actor,
  { id, name, organizationId, domains, deployments, releases }: GroupRecord,
): Promise<readonly PlannedPlacement[]> {
  const ids = deployments.map((deployment) => deployment.id)
  const planned = await readDeploymentsOf(service.store.queries, ids)
  const wanted = {
    id,
    name,
    domains: domains.map(({ fqdn }) => fqdn),
    deployments: planned.map((deployment) => deployment.name),
    releases,
  }
  const plan = { groups: [wanted], deployments: planned, undeployed: [] }
  // For any viewer: the group uses the objects of its own organization.
  const [foreseen] = await planPlacement(service, { ...actor, organizationId }, plan)
  return foreseen?.agents ?? []
}

/** Name and SHA-256 stay empty: the label does not depend on the text. */
function placeNext(
  { id, organizationId }: NextPlacements['group'],
  fqdns: readonly string[],
): PlacedPrograms {
  return {
    groupId: id,
    organizationId,
    candidate: null,
    previous: null,
    current: { name: '', sha: '', fqdns: fqdns.length === 0 ? null : fqdns },
  }
}
