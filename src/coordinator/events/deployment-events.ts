/**
 * Composes events of deployments, with the progress of their groups, in a constant number of queries for any number of
 * groups and agents.
 */
import { deploymentStateName, worstState, type DeploymentState } from '../fleet/deployment.js'
import { groupBy } from '../../group-by.js'
import { shownState, stateOfGroup, type PlacementState } from '../fleet/vcl-group.js'
import {
  readDeploymentUses,
  readFittingDeployments,
  type DeploymentUse,
} from '../fleet/deployment-placements.js'
import { readDeploymentsOf, type DeploymentRecord } from '../fleet/deployment-queries.js'
import { countPlacementsOfGroups, type PlacementCount } from '../fleet/group-placements.js'
import type { Queries } from '../store/store.js'
import { deploymentIdsOf, readGroups, type GroupRecord } from '../fleet/group-queries.js'

/** One event for each deployment of a group, since a group's deploys change its deployments. */
export interface DeploymentEvent {
  readonly deployment: DeploymentRecord
  /** Worst state of its groups, as in the API. */
  readonly state: DeploymentState
  readonly stateName: string
  /** Null if the deployment itself changed or left a group. */
  readonly group: GroupProgress | null
}

interface GroupProgress {
  readonly id: number
  readonly name: string
  readonly deployed: boolean
  readonly revision: number
  readonly state: DeploymentState
  readonly stateName: string
  /** Number of its agents by the state of their placements. */
  readonly places: Readonly<Record<PlacementState, number>>
}

interface Touched {
  readonly groupIds: readonly number[]
  readonly deploymentIds: readonly number[]
}

/** Omits objects deleted in the meantime; a group of the console has no deployments. */
export async function readDeploymentEvents(
  queries: Queries,
  touched: Touched,
): Promise<DeploymentEvent[]> {
  const groups =
    touched.groupIds.length === 0
      ? []
      : await readGroups(queries, { kind: 'all' }, { ids: touched.groupIds })
  const ids = [...new Set([...touched.deploymentIds, ...groups.flatMap(deploymentIdsOf)])]
  if (ids.length === 0) return []
  const situation = await readSituation(queries, groups, ids)
  const { deployments } = situation
  return [
    ...touched.deploymentIds.flatMap((id) => toEvent(situation, deployments.get(id), null)),
    ...groups.flatMap((group) => {
      const progress = toProgress(situation, group)
      return deploymentIdsOf(group).flatMap((id) =>
        toEvent(situation, deployments.get(id), progress),
      )
    }),
  ]
}

interface Situation {
  readonly deployments: ReadonlyMap<number, DeploymentRecord>
  readonly uses: ReadonlyMap<number, readonly DeploymentUse[]>
  /** Keyed by group. */
  readonly places: ReadonlyMap<number, readonly PlacementCount[]>
  /** Deployments that an agent fits; only known for those without placements. */
  readonly fitting: ReadonlySet<number>
}

async function readSituation(
  queries: Queries,
  groups: readonly GroupRecord[],
  ids: readonly number[],
): Promise<Situation> {
  const deployments = await readDeploymentsOf(queries, ids)
  const uses = await readDeploymentUses(queries, ids)
  const groupIds = [...new Set([...groups.map(({ id }) => id), ...uses.map((use) => use.groupId)])]
  const places = groupIds.length === 0 ? [] : await countPlacementsOfGroups(queries, groupIds)
  const placed = new Set(places.map(({ deploymentId }) => deploymentId))
  const fitting = await readFittingDeployments(
    queries,
    ids.filter((id) => !placed.has(id)),
  )
  return {
    deployments: new Map(deployments.map((deployment) => [deployment.id, deployment])),
    uses: groupBy(uses, ({ deploymentId }) => deploymentId),
    places: groupBy(
      places.map((place) => ({ ...place, state: shownState(place) })),
      ({ groupId }) => groupId,
    ),
    fitting: new Set([...fitting, ...placed]),
  }
}

function toProgress(situation: Situation, group: GroupRecord): GroupProgress {
  const places = situation.places.get(group.id) ?? []
  const state = stateOfGroup({
    deployed: group.deployed,
    deploying: group.deploying,
    deployments: deploymentIdsOf(group).flatMap((id) => toCounted(situation, id)),
    placements: places,
  })
  const counts = { wanted: 0, applying: 0, applied: 0, failed: 0 }
  for (const place of places) counts[place.state] += place.count
  return {
    id: group.id,
    name: group.name,
    deployed: group.deployed,
    revision: group.revision,
    state,
    stateName: deploymentStateName(state),
    places: counts,
  }
}

function toEvent(
  situation: Situation,
  deployment: DeploymentRecord | undefined,
  group: GroupProgress | null,
): DeploymentEvent[] {
  if (!deployment) return []
  const uses = situation.uses.get(deployment.id) ?? []
  const state = worstState(
    uses.map(({ deployed, deploying, groupId }) =>
      stateOfGroup({
        deployed,
        deploying,
        deployments: toCounted(situation, deployment.id),
        placements: situation.places.get(groupId) ?? [],
      }),
    ),
  )
  return [{ deployment, state, stateName: deploymentStateName(state), group }]
}

function toCounted({ deployments, fitting }: Situation, id: number) {
  const deployment = deployments.get(id)
  return deployment ? [{ id, min: deployment.min, anyAgentFits: fitting.has(id) }] : []
}
