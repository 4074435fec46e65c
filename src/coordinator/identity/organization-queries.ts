/** Queries of organizations, the separate owners of objects (docs/behaviour.md, Organizations). */
import { organization } from '../../resources/organization.js'
import { readingOf } from '../api/noun-reading.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { visibleOrganizations, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface OrganizationRecord extends StoredRecord<typeof organization.fields> {
  /** A FreezeRecord as JSON, kept after the freeze has ended. */
  readonly frozen: string | null
}

function selectOrganizations(queries: Queries, scope: Scope) {
  return queries.selectFrom('organizations').selectAll().where(visibleOrganizations(scope))
}

const organizationColumns = listColumns(organization.fields, 'organizations')
const readStored = rowReader(organization.fields)

function fromRow(row: { readonly frozen: string | null }): OrganizationRecord {
  return { ...readStored(row), frozen: row.frozen }
}

export const organizationReading = readingOf({
  noun: 'organization',
  select: selectOrganizations,
  columnsFor: () => organizationColumns,
  toRecords: (rows) => rows.map(fromRow),
})

/** Ignores the visibility filter. */
export async function findOrganization(
  queries: Queries,
  id: number,
): Promise<OrganizationRecord | undefined> {
  return organizationReading.find(queries, { kind: 'all' }, id)
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

/** Name → id. Omits names that do not exist. */
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

const ownedTables = [
  'agents',
  'tags',
  'files',
  'deployments',
  'domains',
  'vclGroups',
  'paramSets',
] as const

/** The owned objects that prevent its deletion, counted per table; tables without any are omitted. */
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
