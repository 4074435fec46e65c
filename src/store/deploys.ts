/** Deploys in phase one: written before the first instruction, gone with the decision. At most one for each group. */
import type { WishedSources } from '../domain/vcl-group.js'
import type { GroupAction } from './history.js'
import type { Queries } from './store.js'

export interface DeployRecord {
  readonly id: number
  readonly groupId: number
  readonly organizationId: number | null
  readonly action: GroupAction
  /** The revision that the switch makes. */
  readonly revision: number
  readonly sources: WishedSources
  readonly traceId: string
  readonly account: string
  readonly startedAt: number
}

export async function insertDeploy(
  queries: Queries,
  deploy: Omit<DeployRecord, 'id'>,
): Promise<number> {
  const { id } = await queries
    .insertInto('deploys')
    .values({ ...deploy, sources: JSON.stringify(deploy.sources), sha: deploy.sources.sha })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function readDeploys(
  queries: Queries,
  groupIds?: readonly number[],
): Promise<DeployRecord[]> {
  let deploys = queries.selectFrom('deploys').selectAll().orderBy('id')
  if (groupIds) deploys = deploys.where('groupId', 'in', [...groupIds])
  const rows = await deploys.execute()
  return rows.map((row) => ({
    id: row.id,
    groupId: row.groupId,
    organizationId: row.organizationId,
    action: row.action as GroupAction, // written by insertDeploy only
    revision: row.revision,
    sources: JSON.parse(row.sources) as WishedSources, // as above
    traceId: row.traceId,
    account: row.account,
    startedAt: row.startedAt,
  }))
}

/** Answers false when it was gone already: somebody else decided. */
export async function deleteDeploy(queries: Queries, id: number): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('deploys')
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
