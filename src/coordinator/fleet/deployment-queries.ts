/** Deployments with their tags. A list is read with a constant number of queries. */
import type { Selectable } from 'kysely'
import { toOwner, type NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface DeploymentRecord {
  readonly id: number
  /** Null: the system administrator's own. */
  readonly organization: NamedReference | null
  readonly name: string
  readonly min: number
  readonly max: number
  readonly tags: readonly NamedReference[]
  /** The set of `cachefleet apply` that it belongs to; null: none. */
  readonly managedBy: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** What a caller may write. */
export interface DeploymentFields {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly tagIds: readonly number[]
  readonly managedBy: string | null
}

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

/** These deployments, by id. The caller found their ids in an object of the scope. */
export async function readDeploymentsOf(
  queries: Queries,
  ids: readonly number[],
): Promise<DeploymentRecord[]> {
  if (ids.length === 0) return []
  const rows = await selectNamed(queries)
    .where('deployments.id', 'in', [...ids])
    .orderBy('deployments.id')
    .execute()
  return withTags(queries, rows)
}

export function selectDeployments(queries: Queries, scope: Scope) {
  return selectNamed(queries).where(within(scope, 'deployments'))
}

function selectNamed(queries: Queries) {
  return queries
    .selectFrom('deployments')
    .leftJoin('organizations', 'organizations.id', 'deployments.organizationId')
    .selectAll('deployments')
    .select('organizations.name as organizationName')
}

type DeploymentRow = Selectable<Tables['deployments']> & {
  readonly organizationName: string | null
}

export async function withTags(
  queries: Queries,
  rows: readonly DeploymentRow[],
): Promise<DeploymentRecord[]> {
  const tags = await readTagsOf(
    queries,
    rows.map((row) => row.id),
  )
  return rows.map((row) => ({
    id: row.id,
    organization: toOwner(row),
    name: row.name,
    min: row.min,
    max: row.max,
    tags: tags.get(row.id) ?? [],
    managedBy: row.managedBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
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
  const { id } = await queries
    .insertInto('deployments')
    .values({
      organizationId: owner,
      name: fields.name,
      min: fields.min,
      max: fields.max,
      managedBy: fields.managedBy,
      createdAt: now,
      updatedAt: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await insertTags(queries, id, fields.tagIds)
  await holdQuota(queries, owner, 'deployments')
  return id
}

export async function updateDeployment(
  queries: Queries,
  id: number,
  fields: DeploymentFields,
  now: number,
): Promise<void> {
  await queries
    .updateTable('deployments')
    .set({
      name: fields.name,
      min: fields.min,
      max: fields.max,
      managedBy: fields.managedBy,
      updatedAt: now,
    })
    .where('id', '=', id)
    .execute()
  await queries.deleteFrom('deploymentTags').where('deploymentId', '=', id).execute()
  await insertTags(queries, id, fields.tagIds)
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

/** It takes at least so many agents from now on. */
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

/** Deletes the deployment with its tags; the foreign keys refuse it while a group refers to it. */
export async function deleteDeployment(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('deploymentTags').where('deploymentId', '=', id).execute()
  await queries.deleteFrom('deployments').where('id', '=', id).execute()
}

/** Names of groups that refer to this deployment, or are still placed by it; at most `limit`. */
export async function readGroupsUsingDeployment(
  queries: Queries,
  id: number,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('vclGroups')
    .select('name')
    .where((e) =>
      e.or([
        e.exists(
          e
            .selectFrom('vclGroupDeployments')
            .select('vclGroupDeployments.groupId')
            .whereRef('vclGroupDeployments.groupId', '=', 'vclGroups.id')
            .where('vclGroupDeployments.deploymentId', '=', id),
        ),
        e.exists(
          e
            .selectFrom('placements')
            .select('placements.groupId')
            .whereRef('placements.groupId', '=', 'vclGroups.id')
            .where('placements.deploymentId', '=', id),
        ),
      ]),
    )
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.name)
}
