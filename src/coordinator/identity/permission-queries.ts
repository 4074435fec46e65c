/** What users may do beyond nothing: a row for each type, read or write as well. */
import { sql } from 'kysely'
import { permissionTypes, type Grants, type PermissionType } from '../../resources/permission.js'
import type { ListColumns } from '../store/list-query.js'
import type { NamedReference } from '../store/owner.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import type { Membership } from './user-queries.js'

export interface PermissionRecord {
  readonly id: number
  readonly account: NamedReference
  readonly organization: NamedReference
  readonly type: string
  /** False: read only. */
  readonly write: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

export const permissionColumns = {
  id: { column: 'permissions.id', type: 'number' },
  'account.id': { column: 'permissions.accountId', type: 'number' },
  'account.name': { column: 'accounts.name', type: 'text' },
  'organization.id': { column: 'permissions.organizationId', type: 'number' },
  'organization.name': { column: 'organizations.name', type: 'text' },
  type: { column: 'permissions.type', type: 'text' },
  read: { column: sql`1`, type: 'flag' },
  write: { column: 'permissions.write', type: 'flag' },
  created: { column: 'permissions.createdAt', type: 'time' },
  updated: { column: 'permissions.updatedAt', type: 'time' },
} satisfies ListColumns

export function selectPermissions(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('permissions')
    .innerJoin('accounts', 'accounts.id', 'permissions.accountId')
    .innerJoin('organizations', 'organizations.id', 'permissions.organizationId')
    .selectAll('permissions')
    .select(['accounts.name as accountName', 'organizations.name as organizationName'])
    .where(within(scope, 'permissions'))
}

export async function findPermission(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<PermissionRecord | undefined> {
  const row = await selectPermissions(queries, scope)
    .where('permissions.id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

type PermissionRow = Awaited<
  ReturnType<ReturnType<typeof selectPermissions>['executeTakeFirstOrThrow']>
>

export function fromRow(row: PermissionRow): PermissionRecord {
  const { id, type, createdAt, updatedAt } = row
  return {
    id,
    account: { id: row.accountId, name: row.accountName },
    organization: { id: row.organizationId, name: row.organizationName },
    type,
    write: row.write === 1,
    createdAt,
    updatedAt,
  }
}

/** Answers the new permission's id. The foreign key refuses whoever is no user of the organization. */
export async function insertPermission(
  queries: Queries,
  { organizationId, accountId }: Membership,
  { type, write }: { readonly type: PermissionType; readonly write: boolean },
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('permissions')
    .values({
      organizationId,
      accountId,
      type,
      write: write ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updatePermission(
  queries: Queries,
  id: number,
  write: boolean,
  now: number,
): Promise<void> {
  await queries
    .updateTable('permissions')
    .set({ write: write ? 1 : 0, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

export async function deletePermission(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('permissions').where('id', '=', id).execute()
}

/** What a user may do is this and nothing else. */
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
