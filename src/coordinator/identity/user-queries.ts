/** Users: accounts in organizations, each with a role there; an account may be a user of several. */
import { user } from '../../resources/user.js'
import { groupBy } from '../../group-by.js'
import {
  isPermissionType,
  type Access,
  type Grants,
  type OrganizationRole,
  type PermissionType,
  type Rights,
} from '../../resources/permission.js'
import { readingOf } from '../api/noun-reading.js'
import { holdQuota } from '../store/quotas.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { insertRow, updateRow } from '../store/write-rows.js'

export type UserRecord = StoredRecord<typeof user.fields>

function selectUsers(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('users')
    .innerJoin('accounts', 'accounts.id', 'users.accountId')
    .innerJoin('organizations', 'organizations.id', 'users.organizationId')
    .selectAll('users')
    .select(['accounts.name as accountName', 'organizations.name as organizationName'])
    .where(within(scope, 'users'))
}

const userColumns = listColumns(user.fields, 'users')
const readStored = rowReader(user.fields)

export const userReading = readingOf({
  noun: 'user',
  select: selectUsers,
  columnsFor: () => userColumns,
  toRecords: (rows) => rows.map(readStored),
})

/** An account in an organization: the two ids that identify a user. */
export interface Membership {
  readonly organizationId: number
  readonly accountId: number
}

/** Undefined: the account is not a user of the organization. */
export async function findRights(
  queries: Queries,
  membership: Membership,
): Promise<(Rights & { readonly userId: number }) | undefined> {
  const { organizationId, accountId } = membership
  const row = await queries
    .selectFrom('users')
    .select(['id', 'role'])
    .where('organizationId', '=', organizationId)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  if (!row) return undefined
  return { userId: row.id, role: row.role, grants: await readGrants(queries, membership) }
}

export async function readGrants(queries: Queries, membership: Membership): Promise<Grants> {
  const [grants] = await readGrantsOf(queries, [membership])
  return grants ?? {}
}

/** Returns the grants of each membership, in the given order, with one query. */
export async function readGrantsOf(
  queries: Queries,
  memberships: readonly Membership[],
): Promise<Grants[]> {
  if (memberships.length === 0) return []
  const rows = await queries
    .selectFrom('permissions')
    .select(['organizationId', 'accountId', 'type', 'write'])
    .where('accountId', 'in', [...new Set(memberships.map(({ accountId }) => accountId))])
    .where('organizationId', 'in', [
      ...new Set(memberships.map(({ organizationId }) => organizationId)),
    ])
    .execute()
  const byUser = groupBy(rows, (row) => keyOf(row))
  return memberships.map((membership) => {
    const grants: Partial<Record<PermissionType, Access>> = {}
    for (const { type, write } of byUser.get(keyOf(membership)) ?? [])
      if (isPermissionType(type)) grants[type] = write === 1 ? 'write' : 'read'
    return grants
  })
}

function keyOf({ organizationId, accountId }: Membership): string {
  return `${organizationId} ${accountId}`
}

export async function readOrganizationIdsOf(
  queries: Queries,
  accountId: number,
): Promise<number[]> {
  const rows = await queries
    .selectFrom('users')
    .select('organizationId')
    .where('accountId', '=', accountId)
    .orderBy('organizationId')
    .execute()
  return rows.map((row) => row.organizationId)
}

export async function hasUsers(queries: Queries, organizationId: number): Promise<boolean> {
  const row = await queries
    .selectFrom('users')
    .select('id')
    .where('organizationId', '=', organizationId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether the organization has an administrator that may log in, other than this account. */
export async function hasOtherAdministrator(
  queries: Queries,
  { organizationId, accountId }: Membership,
): Promise<boolean> {
  const row = await queries
    .selectFrom('users')
    .innerJoin('accounts', 'accounts.id', 'users.accountId')
    .select('users.id')
    .where('users.organizationId', '=', organizationId)
    .where('users.role', '=', 'administrator')
    .where('accounts.locked', '=', 0)
    .where('users.accountId', '!=', accountId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the new user's id. */
export async function insertUser(
  queries: Queries,
  { organizationId, accountId }: Membership,
  role: OrganizationRole,
  now: number,
): Promise<number> {
  const id = await insertRow(queries, 'users', { organizationId, accountId, role }, now)
  await holdQuota(queries, organizationId, 'accounts')
  return id
}

export async function updateRole(
  queries: Queries,
  id: number,
  role: OrganizationRole,
  now: number,
): Promise<void> {
  await updateRow(queries, 'users', id, { role, updatedAt: now })
}

/** Also deletes the user's permissions, sessions and console role in the organization. */
export async function deleteUser(
  queries: Queries,
  { organizationId, accountId }: Membership,
): Promise<void> {
  for (const table of ['sessions', 'consoleUsers', 'users'] as const)
    await queries
      .deleteFrom(table)
      .where('organizationId', '=', organizationId)
      .where('accountId', '=', accountId)
      .execute()
}
