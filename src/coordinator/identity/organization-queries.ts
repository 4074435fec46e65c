/** Organizations: separate owners of objects, by name (choices: 2, Who). */
import type { Selectable } from 'kysely'
import type { GivenQuotas } from '../../resources/quota.js'
import { parseQuotas } from '../store/quotas.js'
import type { Tables } from '../store/schema.js'
import { visibleOrganizations, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface OrganizationRecord {
  readonly id: number
  readonly name: string
  readonly accessTtlSeconds: number
  readonly refreshTtlSeconds: number
  readonly locked: boolean
  /** Null: all as by default. */
  readonly quotas: GivenQuotas | null
  readonly createdAt: number
  readonly updatedAt: number
}

export type OrganizationFields = Omit<OrganizationRecord, 'id' | 'createdAt' | 'updatedAt'>

export function selectOrganizations(queries: Queries, scope: Scope) {
  return queries.selectFrom('organizations').selectAll().where(visibleOrganizations(scope))
}

export async function findOrganization(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<OrganizationRecord | undefined> {
  const row = await selectOrganizations(queries, scope)
    .where('organizations.id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function findOrganizationByName(
  queries: Queries,
  name: string,
): Promise<OrganizationRecord | undefined> {
  const row = await queries
    .selectFrom('organizations')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** By name; those that do not exist are left out. */
export async function readOrganizationIds(
  queries: Queries,
  names: readonly string[],
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map()
  const rows = await queries
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where('name', 'in', [...names])
    .execute()
  return new Map(rows.map(({ id, name }) => [name, id]))
}

/** Answers the new organization's id. */
export async function insertOrganization(
  queries: Queries,
  fields: OrganizationFields,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('organizations')
    .values({ ...toColumns(fields), createdAt: now, updatedAt: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateOrganization(
  queries: Queries,
  id: number,
  fields: OrganizationFields,
  now: number,
): Promise<void> {
  await queries
    .updateTable('organizations')
    .set({ ...toColumns(fields), updatedAt: now })
    .where('id', '=', id)
    .execute()
}

/** Its users, sessions and tokens go with it; the foreign keys refuse it while it owns anything else. */
export async function deleteOrganization(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('organizations').where('id', '=', id).execute()
}

const ownedTables = [
  'agents',
  'tags',
  'files',
  'deployments',
  'domains',
  'vclGroups',
  'paramSets',
] as const

/** What keeps it from being deleted: table → how many. */
export async function countOwned(
  queries: Queries,
  id: number,
): Promise<{ readonly table: (typeof ownedTables)[number]; readonly count: number }[]> {
  const counts = await Promise.all(
    ownedTables.map(async (table) => {
      const { count } = await queries
        .selectFrom(table)
        .select((e) => e.fn.countAll<number>().as('count'))
        .where('organizationId', '=', id)
        .executeTakeFirstOrThrow()
      return { table, count }
    }),
  )
  return counts.filter(({ count }) => count > 0)
}

export function fromRow(row: Selectable<Tables['organizations']>): OrganizationRecord {
  const { id, name, accessTtlSeconds, refreshTtlSeconds, createdAt, updatedAt } = row
  const times = { createdAt, updatedAt }
  const quotas = parseQuotas(row.quotas)
  return {
    id,
    name,
    accessTtlSeconds,
    refreshTtlSeconds,
    locked: row.locked === 1,
    quotas,
    ...times,
  }
}

function toColumns({
  name,
  accessTtlSeconds,
  refreshTtlSeconds,
  locked,
  quotas,
}: OrganizationFields) {
  return {
    ...{ name, accessTtlSeconds, refreshTtlSeconds },
    locked: locked ? (1 as const) : (0 as const),
    quotas: quotas === null ? null : JSON.stringify(quotas),
  }
}
