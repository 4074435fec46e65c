/** The owner of an object: an organization or the system administrator (null; for an agent: shared). */
import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import type { Tables } from './schema.js'
import type { ScopedTable } from './scope.js'
import type { Queries } from './store.js'

export interface NamedReference {
  readonly id: number
  readonly name: string
}

/** The object has exactly this owner, as required of objects that an object of this owner refers to. */
export function ownedBy(owner: number | null, table: ScopedTable): Expression<SqlBool> {
  const e = expressionBuilder<Tables, ScopedTable>()
  return owner === null
    ? e(`${table}.organizationId`, 'is', null)
    : e(`${table}.organizationId`, '=', owner)
}

/** Returns the ids that an object of `owner` may refer to. */
export async function readUsableIds(
  queries: Queries,
  table: 'files' | 'deployments' | 'domains' | 'webhooks',
  owner: number | null,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await queries
    .selectFrom(table)
    .select(`${table}.id`)
    .where(`${table}.id`, 'in', [...ids])
    .where(ownedBy(owner, table))
    .execute()
  return rows.map((row) => row.id)
}

/** Whether an object of `owner` has one of these names. */
export async function isAnyNameTaken(
  queries: Queries,
  table: 'vclGroups' | 'deployments' | 'files' | 'tags',
  owner: number | null,
  names: readonly string[],
): Promise<boolean> {
  const row = await queries
    .selectFrom(table)
    .select(`${table}.id`)
    .where(`${table}.name`, 'in', [...names])
    .where(ownedBy(owner, table))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** From a row that was joined with its organization's name. */
export function toOwner(row: {
  readonly organizationId: number | null
  readonly organizationName: string | null
}): NamedReference | null {
  return row.organizationId === null
    ? null
    : { id: row.organizationId, name: row.organizationName ?? '' } // the foreign key holds
}

export async function organizationExists(queries: Queries, id: number): Promise<boolean> {
  const row = await queries
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the ids that exist. */
export async function readExistingOrganizationIds(
  queries: Queries,
  ids: readonly number[],
): Promise<number[]> {
  return [...(await readOrganizationNames(queries, ids)).keys()]
}

export async function readOrganizationNames(
  queries: Queries,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await queries
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, row.name]))
}
