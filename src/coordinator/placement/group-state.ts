/**
 * The parts of a group in the API beside its own fields: its state, and its placement on each agent
 * (docs/behaviour.md, Deployments and Group state).
 */
import { indexAgents } from '../fleet/agent-index.js'
import { deploymentStateName, type DeploymentState } from '../fleet/deployment.js'
import { groupBy } from '../../group-by.js'
import { placeGroup } from './placement.js'
import { explainPlacement } from './placement-reasons.js'
import { programOf, shownState, stateOfGroup } from '../fleet/vcl-group.js'
import { readFittingDeployments } from '../fleet/deployment-placements.js'
import type { Actor } from '../../resources/permission.js'
import type { Place, PlacementReason } from '../../resources/vclgroup.js'
import { isUsableBy, readFleet } from '../fleet/fleet.js'
import { readGroupPlacements, type GroupPlacement } from '../fleet/group-placements.js'
import { readFailedDeploys, type FailedDeploy } from '../fleet/history-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { readReplaceable } from '../fleet/replaced-placements.js'
import { deploymentIdsOf, releasesOf, type GroupRecord } from '../fleet/group-queries.js'
import {
  readDeploymentsInForce,
  readDeploymentsOfGroup,
  type NamedDeployment,
} from '../fleet/target-queries.js'
import { noteOtherHolders, toPlacementInput } from './placing.js'
import { readNamesOf } from './replacing.js'
import { readGroupBackends, type SickBackends } from '../backends/backend-facts.js'
import { findBackendProblems } from '../problems/find-backend-problems.js'
import { findPlaceProblems, findStageProblems } from '../problems/find-place-problems.js'
import type { Finding } from '../problems/make-problem.js'
import { scopeOf, type StateService } from '../service.js'

export interface GroupAgentState extends Omit<Place, 'deployedAt'> {
  /** Milliseconds since 1970. */
  readonly deployedAt: number | null
}

export interface GroupStatus {
  readonly state: DeploymentState
  readonly stateName: string
  readonly agentStates: readonly GroupAgentState[]
  readonly findings: readonly Finding[]
  /** Of the group's stage. */
  readonly stageStates: readonly GroupAgentState[]
  readonly stageFindings: readonly Finding[]
}

/** A constant number of queries, however many groups. */
export async function readGroupStatuses(
  service: StateService,
  groups: readonly GroupRecord[],
): Promise<Map<number, GroupStatus>> {
  if (groups.length === 0) return new Map()
  const { queries } = service.store
  const ids = groups.map(({ id }) => id)
  const placed = await readGroupPlacements(queries, ids, { withStages: true })
  const byGroup = ({ groupId }: GroupPlacement): number => groupId
  const places = groupBy(
    placed.filter(({ stage }) => !stage),
    byGroup,
  )
  const stagePlaces = groupBy(
    placed.filter(({ stage }) => stage),
    byGroup,
  )
  const deployments = await readDeploymentsInForce(queries, groups)
  // Whether an agent fits decides between Orphan and Error, so it is read only for groups whose desired release has no placement.
  const empty = groups.filter((group) => {
    const wantedIds = new Set(deployments.get(group.id)?.map(({ id }) => id))
    const isPlaced = places.get(group.id)?.some((place) => wantedIds.has(place.deploymentId))
    return group.deployed && isPlaced !== true
  })
  const fitting = new Set(await readFittingDeployments(queries, empty.flatMap(deploymentIdsOf)))
  const undeployed = groups.filter(({ deployed, deploying }) => !deployed && !deploying)
  const failedDeploys = await readFailedDeploys(
    queries,
    undeployed.map(({ id }) => id),
  )
  const backends = await readGroupBackends(queries, ids)
  return new Map(
    groups.map((group) => [
      group.id,
      toStatus(group, {
        backends: backends.get(group.id),
        places: places.get(group.id) ?? [],
        stagePlaces: stagePlaces.get(group.id) ?? [],
        failedDeploy: failedDeploys.get(group.id) ?? null,
        deployments: deployments.get(group.id) ?? [],
        fitting,
      }),
    ]),
  )
}

/**
 * Returns one row for each agent that the caller may see: for the desired release, or if there is none, for a deploy now.
 * `replace`: for a deploy with `replace` now.
 */
export async function explainGroupPlacement(
  service: StateService,
  actor: Actor,
  group: GroupRecord,
  { replace = false }: { readonly replace?: boolean } = {},
): Promise<PlacementReason[]> {
  const { queries } = service.store
  const owner = group.organizationId
  const seen = await readFleet(queries, scopeOf(actor))
  const fleet = seen.filter((agent) => isUsableBy(owner, agent))
  const placements = await readPlacements(queries, { groupIds: [group.id], stage: false })
  const kept = placements.filter(({ keptDown }) => keptDown)
  const agents = indexAgents(fleet)
  const shown = replace ? { ...group, desiredRelease: null } : group
  const replaces = replace ? await readReplaceable(queries, group) : undefined
  const target = {
    id: group.id,
    domains: shown.desiredRelease?.domains ?? group.domains,
    releases: releasesOf(shown),
    replaces,
  }
  await noteOtherHolders(queries, { group: target, agents })
  const deployments = await readDeploymentsOfGroup(queries, group.id, deploymentIdsOf(shown))
  const input = toPlacementInput({
    group: target,
    deployments,
    agents,
    placements,
    wanted: group.desiredRelease ? programOf(group.desiredRelease) : undefined,
    keepDown: new Set(kept.map(({ agentId }) => agentId)),
    nameOf: await readNamesOf(queries, owner),
  })
  const names = new Map(fleet.map(({ id, name }) => [id, name]))
  const named = new Map(
    deployments.flatMap(({ id, name }) => (name === null ? [] : [[id, { id, name }]])),
  )
  const rows = explainPlacement(input, placeGroup(input)).map((row) => ({
    agent: { id: row.agentId, name: names.get(row.agentId) ?? '' },
    deployment: row.deploymentId === null ? null : (named.get(row.deploymentId) ?? null),
    chosen: row.chosen,
    reason: row.reason,
  }))
  const unmanaged = seen
    .filter((agent) => !isUsableBy(owner, agent))
    .map(({ id, name }) => ({
      agent: { id, name },
      deployment: null,
      chosen: false,
      reason: 'the agent belongs to another organization',
    }))
  return [...rows, ...unmanaged].toSorted((a, b) => a.agent.id - b.agent.id)
}

interface StatusInput {
  /** Undefined: no backend is sick. */
  readonly backends: SickBackends | undefined
  readonly places: readonly GroupPlacement[]
  readonly stagePlaces: readonly GroupPlacement[]
  readonly failedDeploy: FailedDeploy | null
  readonly deployments: readonly NamedDeployment[]
  readonly fitting: ReadonlySet<number>
}

function toStatus(group: GroupRecord, input: StatusInput): GroupStatus {
  const places = input.places.map(toShown)
  const stagePlaces = input.stagePlaces.map(toShown)
  // A group of the console is not rolled back.
  const rolledBack = group.console ? null : group.name
  const state = stateOfGroup({
    deployed: group.deployed,
    deploying: group.deploying,
    deployments: input.deployments.map((deployment) => toCounted(deployment, input.fitting)),
    placements: places,
  })
  return {
    state,
    stateName: deploymentStateName(state),
    agentStates: places.map(toAgentState),
    findings: [
      ...findPlaceProblems({ ...input, state, places }, rolledBack),
      ...findBackendProblems(input.backends, group.name),
    ],
    stageStates: stagePlaces.map(toAgentState),
    stageFindings: findStageProblems(stagePlaces, group.name),
  }
}

function toAgentState(place: GroupPlacement): GroupAgentState {
  return {
    agent: { id: place.agentId, name: place.agentName },
    state: place.state,
    revision: place.appliedRevision,
    error: place.error,
    deployedAt: place.deployedAt,
  }
}

/** `fitting`: the deployments that at least one agent fits. */
export function toCounted({ id, min, target }: NamedDeployment, fitting: ReadonlySet<number>) {
  const anyAgentFits = target.kind === 'members' ? target.agentIds.size > 0 : fitting.has(id)
  return { id, min, anyAgentFits }
}

function toShown(place: GroupPlacement): GroupPlacement {
  return { ...place, state: shownState(place) }
}
