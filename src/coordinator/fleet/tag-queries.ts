/** Tags and their visibility: the organization's own, and those of shared agents (docs/behaviour.md, Shared agents). */
import { sql, type RawBuilder } from 'kysely'
import type { Written } from '../../resources/resource.js'
import { tag } from '../../resources/tag.js'
import type { ListColumns } from '../store/list-query.js'
import { selectOwned } from '../store/owned-rows.js'
import { deleteRow, insertRow } from '../store/write-rows.js'
import { ownedBy } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { visibleTags, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type TagRecord = StoredRecord<typeof tag.fields> & {
  /** An agent sends it now. */
  readonly static: boolean
}

export const tagColumns = {
  ...listColumns(tag.fields, 'tags'),
  static: { column: staticTag(), type: 'flag' },
} satisfies ListColumns

type TagFields = Written<typeof tag.fields>

export function selectTags(queries: Queries, scope: Scope) {
  return selectOwned(queries, 'tags', visibleTags(scope))
    .select(staticTag().as('static'))
    .where(visibleTags(scope))
}

/** 1 while an agent sends this tag, else 0: PostgreSQL and SQLite print a condition differently. */
function staticTag(): RawBuilder<number> {
  return sql<number>`case when exists (
    select 1 from ${sql.table('agentTags')}
    where ${sql.ref('agentTags.tagId')} = ${sql.ref('tags.id')} and ${sql.ref('agentTags.static')} = 1
  ) then 1 else 0 end`
}

/** Returns the ids that an object of `owner` may refer to: the owner's own tags and those of shared agents. */
export async function readUsableTagIds(
  queries: Queries,
  owner: number | null,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await queries
    .selectFrom('tags')
    .select('id')
    .where('tags.id', 'in', [...ids])
    .where(
      owner === null
        ? ownedBy(null, 'tags')
        : visibleTags({ kind: 'organization', organizationId: owner }),
    )
    .execute()
  return rows.map((row) => row.id)
}

export async function readTagNames(
  queries: Queries,
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await queries
    .selectFrom('tags')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export async function insertTag(
  queries: Queries,
  owner: number | null,
  fields: Partial<TagFields> & Pick<TagFields, 'name'>,
  now: number,
): Promise<number> {
  const id = await insertRow(queries, 'tags', { ...fields, organizationId: owner }, now)
  await holdQuota(queries, owner, 'tags')
  return id
}

/** Deletes the tag and removes it from agents; the foreign key prevents this while a deployment has it. */
export async function deleteTag(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('agentTags').where('tagId', '=', id).execute()
  await deleteRow(queries, 'tags', id)
}

/** Names of deployments that have this tag; at most `limit`. */
export async function readDeploymentsWithTag(
  queries: Queries,
  id: number,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('deployments')
    .innerJoin('deploymentTags', 'deploymentTags.deploymentId', 'deployments.id')
    .select('deployments.name')
    .where('deploymentTags.tagId', '=', id)
    .orderBy('deployments.id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.name)
}

type TagRow = Awaited<ReturnType<ReturnType<typeof selectTags>['executeTakeFirstOrThrow']>>

const readStored = rowReader(tag.fields)

export function fromRow(row: TagRow): TagRecord {
  return { static: row.static === 1, ...readStored(row) }
}
