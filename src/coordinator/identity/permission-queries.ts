/** The permissions of users: one row per type, for read only or for read and write. */
import { sql } from 'kysely'
import { permissionTypes, type Grants, type PermissionType } from '../../resources/permission.js'
import { permission } from '../../resources/user-permission.js'
import { readingOf } from '../api/noun-reading.js'
import type { ListColumns } from '../store/list-query.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { insertRow } from '../store/write-rows.js'
import type { Membership } from './user-queries.js'

/** `write` is false for read only. */
export type PermissionRecord = StoredRecord<typeof permission.fields>

const permissionColumns = {
  ...listColumns(permission.fields, 'permissions'),
  read: { column: sql`1`, type: 'flag' },
} satisfies ListColumns

function selectPermissions(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('permissions')
    .innerJoin('accounts', 'accounts.id', 'permissions.accountId')
    .innerJoin('organizations', 'organizations.id', 'permissions.organizationId')
    .selectAll('permissions')
    .select(['accounts.name as accountName', 'organizations.name as organizationName'])
    .where(within(scope, 'permissions'))
}

const readStored = rowReader(permission.fields)

export const permissionReading = readingOf({
  noun: 'permission',
  select: selectPermissions,
  columnsFor: () => permissionColumns,
  toRecords: (rows) => rows.map(readStored),
})

/** Returns the new permission's id. The foreign key refuses an account that is not a user of the organization. */
export async function insertPermission(
  queries: Queries,
  { organizationId, accountId }: Membership,
  { type, write }: { readonly type: PermissionType; readonly write: boolean },
  now: number,
): Promise<number> {
  const row = { organizationId, accountId, type, write: write ? (1 as const) : (0 as const) }
  return insertRow(queries, 'permissions', row, now)
}

/** Replaces all permissions of a user with these. */
export async function replacePermissions(
  queries: Queries,
  membership: Membership,
  grants: Grants,
  now: number,
): Promise<void> {
  await queries
    .deleteFrom('permissions')
    .where('organizationId', '=', membership.organizationId)
    .where('accountId', '=', membership.accountId)
    .execute()
  for (const type of permissionTypes) {
    const access = grants[type]
    if (access === undefined) continue
    await insertPermission(queries, membership, { type, write: access === 'write' }, now)
  }
}
