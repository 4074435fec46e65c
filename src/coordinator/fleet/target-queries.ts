/** The placement targets of groups: agents selected by their deployments, or caches named in the console. */
import { groupBy } from '../../group-by.js'
import { readDeploymentsOf, type DeploymentRecord } from './deployment-queries.js'
import { deploymentIdsOf, type GroupRecord } from './group-queries.js'
import { placeEverywhere, type PlacementDeployment } from './placement-input.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

export interface NamedDeployment extends PlacementDeployment {
  /** Null: the caches are named individually. */
  readonly name: string | null
}

/** By group id. */
export type AskedOfGroups = ReadonlyMap<number, readonly NamedDeployment[]>

/** The targets in force, from the deployments of the desired release. A constant number of queries. */
export async function readDeploymentsInForce(
  queries: Queries,
  groups: readonly Pick<GroupRecord, 'id' | 'desiredRelease' | 'deployments'>[],
): Promise<AskedOfGroups> {
  return readAsked(queries, new Map(groups.map((group) => [group.id, deploymentIdsOf(group)])))
}

/** The targets with these deployments, unless its caches are named individually. */
export async function readDeploymentsOfGroup(
  queries: Queries,
  groupId: number,
  deploymentIds: readonly number[],
): Promise<readonly NamedDeployment[]> {
  return (await readAsked(queries, new Map([[groupId, deploymentIds]]))).get(groupId) ?? []
}

async function readAsked(
  queries: Queries,
  idsOf: ReadonlyMap<number, readonly number[]>,
): Promise<AskedOfGroups> {
  const members = await readMembers(queries, [...idsOf.keys()])
  const ids = new Set([...idsOf.values()].flat())
  const deployments = await readDeploymentsOf(queries, [...ids])
  const byId = new Map(deployments.map((deployment) => [deployment.id, toAsked(deployment)]))
  return new Map(
    [...idsOf].map(([groupId, deploymentIds]) => [
      groupId,
      members.get(groupId) ?? deploymentIds.flatMap((id) => byId.get(id) ?? []),
    ]),
  )
}

/** Members by group of the console, including groups without any. */
async function readMembers(queries: Queries, groupIds: readonly number[]): Promise<AskedOfGroups> {
  const rows = await inPieces(groupIds, (ids) =>
    queries
      .selectFrom('consoleGroups')
      .leftJoin('groupMembers', 'groupMembers.groupId', 'consoleGroups.groupId')
      .select(['consoleGroups.groupId', 'groupMembers.agentId'])
      .where('consoleGroups.groupId', 'in', ids)
      .execute(),
  )
  return new Map(
    [...groupBy(rows, ({ groupId }) => groupId)].map(([groupId, found]) => {
      const agentIds = new Set(found.flatMap(({ agentId }) => agentId ?? []))
      return [groupId, [{ ...placeEverywhere({ kind: 'members', agentIds }), name: null }]]
    }),
  )
}

function toAsked({ id, name, min, max, tags }: DeploymentRecord): NamedDeployment {
  return { id, name, min, max, target: { kind: 'tags', tagIds: tags.map((tag) => tag.id) } }
}
