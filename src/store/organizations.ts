/** Organizations: separate owners of objects, by name (choices: 2, Who). */
import type { Selectable } from 'kysely'
import type { OrganizationsTable } from './schema.js'
import type { Queries } from './store.js'

export interface OrganizationRecord {
  readonly id: number
  readonly name: string
  readonly accessTtlSeconds: number
  readonly refreshTtlSeconds: number
  readonly locked: boolean
}

export async function findOrganization(
  queries: Queries,
  id: number,
): Promise<OrganizationRecord | undefined> {
  const row = await queries
    .selectFrom('organizations')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

function fromRow(row: Selectable<OrganizationsTable>): OrganizationRecord {
  return {
    id: row.id,
    name: row.name,
    accessTtlSeconds: row.accessTtlSeconds,
    refreshTtlSeconds: row.refreshTtlSeconds,
    locked: row.locked === 1,
  }
}
