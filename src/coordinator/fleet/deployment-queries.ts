/** Deployments with their tags. A list is read with a constant number of queries. */
import { expressionBuilder } from 'kysely'
import { named } from '../../resources/common-fields.js'
import { deployment } from '../../resources/deployment.js'
import type { Written } from '../../resources/resource.js'
import type { ListColumns, NestedColumn } from '../store/list-query.js'
import { selectOwned, type OwnedRow } from '../store/owned-rows.js'
import { deleteRow, insertRow, updateRow } from '../store/write-rows.js'
import type { NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { listColumns, nestedColumns, rowReader } from '../store/resource-rows.js'
import type { StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type DeploymentRecord = StoredRecord<typeof deployment.fields> & {
  readonly tags: readonly NamedReference[]
}

/** The fields that a caller may write. */
export type DeploymentFields = Written<typeof deployment.fields> & {
  readonly tagIds: readonly number[]
}

const hasTag: NestedColumn['exists'] = (condition) =>
  expressionBuilder<Tables, 'deployments'>().exists((e) =>
    e
      .selectFrom('deploymentTags')
      .innerJoin('tags', 'tags.id', 'deploymentTags.tagId')
      .select('deploymentTags.tagId')
      .whereRef('deploymentTags.deploymentId', '=', 'deployments.id')
      .where(condition),
  )

const hasAgent: NestedColumn['exists'] = (condition) =>
  expressionBuilder<Tables, 'deployments'>().exists((e) =>
    e
      .selectFrom('placements')
      .innerJoin('agents', 'agents.id', 'placements.agentId')
      .select('placements.agentId')
      .whereRef('placements.deploymentId', '=', 'deployments.id')
      .where(condition),
  )

export const deploymentColumns = {
  ...listColumns(deployment.fields, 'deployments'),
  ...nestedColumns('tags', { fields: named, table: 'tags' }, hasTag),
  ...nestedColumns('agents', { fields: named, table: 'agents' }, hasAgent),
} satisfies ListColumns

export async function findDeployment(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<DeploymentRecord | undefined> {
  const row = await selectDeployments(queries, scope)
    .where('deployments.id', '=', id)
    .executeTakeFirst()
  return row && (await withTags(queries, [row]))[0]
}

/** Reads these deployments, sorted by id. The caller found their ids in an object of the scope. */
export async function readDeploymentsOf(
  queries: Queries,
  ids: readonly number[],
): Promise<DeploymentRecord[]> {
  if (ids.length === 0) return []
  const rows = await selectOwned(queries, 'deployments', within({ kind: 'all' }, 'deployments'))
    .where('deployments.id', 'in', [...ids])
    .orderBy('deployments.id')
    .execute()
  return withTags(queries, rows)
}

export function selectDeployments(queries: Queries, scope: Scope) {
  return selectOwned(queries, 'deployments', within(scope, 'deployments'))
}

const readStored = rowReader(deployment.fields)

export async function withTags(
  queries: Queries,
  rows: readonly OwnedRow<'deployments'>[],
): Promise<DeploymentRecord[]> {
  const tags = await readTagsOf(
    queries,
    rows.map((row) => row.id),
  )
  return rows.map((row) => ({
    ...readStored(row),
    tags: tags.get(row.id) ?? [],
  }))
}

async function readTagsOf(
  queries: Queries,
  ids: readonly number[],
): Promise<Map<number, NamedReference[]>> {
  const byDeployment = new Map<number, NamedReference[]>(ids.map((id) => [id, []]))
  if (ids.length === 0) return byDeployment
  const rows = await queries
    .selectFrom('deploymentTags')
    .innerJoin('tags', 'tags.id', 'deploymentTags.tagId')
    .select(['deploymentTags.deploymentId', 'tags.id', 'tags.name'])
    .where('deploymentTags.deploymentId', 'in', [...ids])
    .orderBy('tags.id')
    .execute()
  for (const { deploymentId, id, name } of rows) byDeployment.get(deploymentId)?.push({ id, name })
  return byDeployment
}

export async function insertDeployment(
  queries: Queries,
  owner: number | null,
  fields: DeploymentFields,
  now: number,
): Promise<number> {
  const { tagIds, ...row } = fields
  const id = await insertRow(queries, 'deployments', { ...row, organizationId: owner }, now)
  await insertTags(queries, id, tagIds)
  await holdQuota(queries, owner, 'deployments')
  return id
}

export async function updateDeployment(
  queries: Queries,
  id: number,
  { tagIds, ...fields }: DeploymentFields,
  now: number,
): Promise<void> {
  await updateRow(queries, 'deployments', id, { ...fields, updatedAt: now })
  await queries.deleteFrom('deploymentTags').where('deploymentId', '=', id).execute()
  await insertTags(queries, id, tagIds)
}

async function insertTags(
  queries: Queries,
  deploymentId: number,
  tagIds: readonly number[],
): Promise<void> {
  await queries
    .insertInto('deploymentTags')
    .values(tagIds.map((tagId) => ({ deploymentId, tagId })))
    .execute()
}

/** Raises `max` to at least this number of agents. */
export async function raiseMax(
  queries: Queries,
  id: number,
  max: number,
  now: number,
): Promise<void> {
  await queries
    .updateTable('deployments')
    .set({ max, updatedAt: now })
    .where('id', '=', id)
    .where('max', '<', max)
    .execute()
}

/** Deletes the deployment with its tags; the foreign keys prevent this while a group refers to it. */
export async function deleteDeployment(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('deploymentTags').where('deploymentId', '=', id).execute()
  await deleteRow(queries, 'deployments', id)
}
