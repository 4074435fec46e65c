/**
 * Placement follows tags, min, max and agents at once, for deployed groups (choices: 3, Placement). One pass serves
 * a whole batch of arrivals: all groups are decided together under the decision lock.
 */
import { indexAgents, recordPlacement, type AgentIndex } from '../../domain/agent-index.js'
import { agentStates, type AgentState } from '../../domain/agent-state.js'
import { groupBy } from '../../domain/group-by.js'
import { readDeploymentsOf, type DeploymentRecord } from '../../store/deployments.js'
import { readDeploys } from '../../store/deploys.js'
import { recomposeDesired } from '../../store/desired-states.js'
import { readFleet, type FleetAgent } from '../../store/fleet.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../../store/placements.js'
import type { Queries } from '../../store/store.js'
import { readGroups, type GroupRecord } from '../../store/vcl-groups.js'
import {
  awaitCandidate,
  createPlacement,
  decidePlacement,
  failPlacement,
  holdsPlace,
  switchPlacement,
} from './placing.js'
import type { StateService } from './service.js'

export interface FollowedPlacements {
  /** Agents whose desired state changed. */
  readonly agentIds: readonly number[]
  /** Groups whose kept wish can be deployed now: enough agents are there. */
  readonly ready: readonly GroupRecord[]
}

export function followPlacements(service: StateService): Promise<FollowedPlacements> {
  return service.store.decide(async (queries) => {
    const pass = await readPass(queries)
    const changed: number[] = []
    const ready: GroupRecord[] = []
    for (const group of pass.groups) {
      const changes = followGroup(pass, group)
      if (changes === 'ready') ready.push(group)
      else if (changes) changed.push(...(await saveChanges(queries, group, changes)))
    }
    return { agentIds: await recomposeDesired(queries, [...new Set(changed)]), ready }
  })
}

interface Pass {
  readonly groups: readonly GroupRecord[]
  readonly deployments: ReadonlyMap<number, DeploymentRecord>
  readonly placements: ReadonlyMap<number, PlacementRecord[]>
  /** By the groups' owners; kept true as groups are decided, so that two never choose one agent at once. */
  readonly agents: ReadonlyMap<number | null, AgentIndex>
}

interface Changes {
  readonly save: readonly PlacementRecord[]
  /** Agents that the group leaves. */
  readonly leave: readonly number[]
}

async function readPass(queries: Queries): Promise<Pass> {
  const busy = new Set((await readDeploys(queries)).map((deploy) => deploy.groupId))
  const groups = (await readGroups(queries, { kind: 'all' }, { deployed: true })).filter(
    (group) => !busy.has(group.id),
  )
  if (groups.length === 0)
    return { groups, deployments: new Map(), placements: new Map(), agents: new Map() }
  const deploymentIds = new Set(groups.flatMap((group) => group.wish?.deploymentIds ?? []))
  const deployments = await readDeploymentsOf(queries, [...deploymentIds])
  const placements = await readPlacements(queries, { groupIds: groups.map(({ id }) => id) })
  const fleet = await readFleet(queries, { kind: 'all' })
  return {
    groups,
    deployments: new Map(deployments.map((deployment) => [deployment.id, deployment])),
    placements: groupBy(placements, (placement) => placement.groupId),
    agents: indexByOwner(groups, fleet),
  }
}

function followGroup(pass: Pass, group: GroupRecord): Changes | 'ready' | undefined {
  if (!group.wish) return undefined
  const program = { name: group.wish.programName, sha: group.wish.sha }
  const before = pass.placements.get(group.id) ?? []
  const agents = agentsOf(pass, group)
  const settled = before.map((placement) =>
    settlePlacement(placement, group, agents.byId.get(placement.agentId)?.state),
  )
  const decision = decidePlacement({
    group,
    deployments: group.wish.deploymentIds.flatMap((id) => pass.deployments.get(id) ?? []),
    agents,
    placements: settled,
    // What failed here is tried again at the next deploy, not in every pass.
    exclude: new Set(settled.filter((one) => !holdsPlace(one)).map(({ agentId }) => agentId)),
  })
  if (group.wishPending) return decision.shortages.length === 0 ? 'ready' : undefined
  const leave = decision.remove.map(({ agentId }) => agentId)
  const added = decision.add.map((place) =>
    createPlacement({ ...place, group, revision: group.revision, program }),
  )
  for (const index of pass.agents.values()) recordPlacement(index, group, decision)
  const kept = settled.filter(
    (placement, index) => placement !== before[index] && !leave.includes(placement.agentId),
  )
  return { save: [...kept, ...added], leave }
}

/** A candidate that loaded after the others had switched, or on an agent that came later, switches by itself. */
function settlePlacement(
  placement: PlacementRecord,
  group: GroupRecord,
  agentState: AgentState | undefined,
): PlacementRecord {
  if (placement.candidateState === 'loaded') return switchPlacement(placement, group.revision)
  if (agentState !== agentStates.Running) return awaitCandidate(placement)
  if (placement.candidateState === 'failed') return failPlacement(placement, group.keepOnFailure)
  return placement
}

/** An organization's groups use its own agents and the shared ones (choices: 2, Agents). */
function indexByOwner(groups: readonly GroupRecord[], fleet: readonly FleetAgent[]) {
  const owners = new Set(groups.map((group) => group.organizationId))
  return new Map(
    [...owners].map((owner) => {
      const usable = (agent: FleetAgent): boolean =>
        owner === null || agent.organizationId === null || agent.organizationId === owner
      return [owner, indexAgents(fleet.filter(usable))]
    }),
  )
}

function agentsOf(pass: Pass, group: GroupRecord): AgentIndex {
  return pass.agents.get(group.organizationId) ?? indexAgents([])
}

async function saveChanges(
  queries: Queries,
  group: GroupRecord,
  { save, leave }: Changes,
): Promise<number[]> {
  await savePlacements(queries, save)
  await deletePlacements(queries, group.id, leave)
  return [...save.map(({ agentId }) => agentId), ...leave]
}
