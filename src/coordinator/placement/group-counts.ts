/** Counts groups by state. The database counts their placements, so it returns no row for each of thousands of agents. */
import { deploymentStates } from '../../resources/deployment.js'
import { groupBy } from '../../group-by.js'
import { deploymentStateName } from '../fleet/deployment.js'
import { readFittingDeployments } from '../fleet/deployment-placements.js'
import { countPlacementsOfGroups } from '../fleet/group-placements.js'
import { parseRelease } from '../fleet/group-queries.js'
import { readDeploymentsInForce } from '../fleet/target-queries.js'
import { shownState, stateOfGroup } from '../fleet/vcl-group.js'
import { inPieces } from '../store/in-pieces.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { toCounted } from './group-state.js'

export type GroupCounts = Record<keyof typeof deploymentStates, number>

/** The number of queries grows with each thousand deployed groups, not with the agents that they are placed on. */
export async function countGroupsByState(queries: Queries, scope: Scope): Promise<GroupCounts> {
  const groups = await readDeployable(queries, scope)
  const deployed = groups.filter((group) => group.deployed)
  const counts = await inPieces(
    deployed.map(({ id }) => id),
    (ids) => countPlacementsOfGroups(queries, ids),
  )
  const places = groupBy(
    counts.map((place) => ({ ...place, state: shownState(place) })),
    ({ groupId }) => groupId,
  )
  const deployments = await readDeploymentsInForce(queries, deployed)
  const wantedOf = ({ desiredRelease }: (typeof deployed)[number]): readonly number[] =>
    desiredRelease?.deploymentIds ?? []
  const unplaced = deployed.filter((group) => {
    const wanted = new Set(wantedOf(group))
    return !places.get(group.id)?.some(({ deploymentId }) => wanted.has(deploymentId))
  })
  const fitting = new Set(await readFittingDeployments(queries, unplaced.flatMap(wantedOf)))
  const found = Object.fromEntries(
    Object.keys(deploymentStates).map((name) => [name, 0]),
  ) as GroupCounts
  for (const group of groups) {
    const state = stateOfGroup({
      deployed: group.deployed,
      deploying: group.deploying,
      deployments: (deployments.get(group.id) ?? []).map((one) => toCounted(one, fitting)),
      placements: places.get(group.id) ?? [],
    })
    found[deploymentStateName(state)] += 1
  }
  return found
}

async function readDeployable(queries: Queries, scope: Scope) {
  const rows = await queries
    .selectFrom('vclGroups')
    .leftJoin('deploys', (join) =>
      join.onRef('deploys.groupId', '=', 'vclGroups.id').on('deploys.action', '!=', 'stage'),
    )
    .select(['vclGroups.id', 'vclGroups.deployed', 'vclGroups.wish', 'deploys.id as deployId'])
    .where(within(scope, 'vclGroups'))
    .execute()
  return rows.map(({ id, deployed, wish, deployId }) => ({
    id,
    deployed: deployed === 1,
    deploying: deployId !== null,
    desiredRelease: deployed === 1 ? parseRelease(wish) : null,
    // While the group is not deployed, its own deployments have no effect.
    deployments: [],
  }))
}
