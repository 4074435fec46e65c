/** Who may use the console: administrators by the controller, and accounts with a role of the console. Written here too. */
import { groupBy } from '../../../group-by.js'
import type { Grants, OrganizationRole } from '../../../resources/permission.js'
import { holdQuota } from '../../store/quotas.js'
import { within, type Scope } from '../../store/scope.js'
import type { Queries } from '../../store/store.js'
import { insertRow } from '../../store/write-rows.js'

export interface ConsoleUserRecord {
  readonly accountId: number
  readonly name: string
  readonly email: string
  readonly systemAdministrator: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** Those that the reader may see. */
  readonly accesses: readonly ConsoleUserAccess[]
}

export interface ConsoleUserAccess {
  /** Null: the system administrator's own groups. */
  readonly organizationId: number | null
  /** As a user of the controller, with the one grant that amounts to administrator; null: it is none there. */
  readonly rights: { readonly role: OrganizationRole; readonly grants: Grants } | null
  /** Null: nobody gave it one. */
  readonly consoleRole: 'User' | 'ReadOnly' | null
  /** By id. */
  readonly groupIds: readonly number[]
}

/** By id; `accountId`: that one only. Four queries, however many there are. */
export async function readConsoleUsers(
  queries: Queries,
  scope: Scope,
  accountId?: number,
): Promise<ConsoleUserRecord[]> {
  const [accounts, users, consoleUsers, groups] = await Promise.all([
    readAccounts(queries, scope, accountId),
    readMembers(queries, scope, accountId),
    readRoles(queries, scope, accountId),
    readGroups(queries, scope, accountId),
  ])
  const usersOf = groupBy(users, (row) => row.accountId)
  const rolesOf = groupBy(consoleUsers, (row) => row.accountId)
  const groupsOf = groupBy(groups, (row) => row.consoleUserId)
  return accounts.map(({ systemAdministrator, id, ...account }) => {
    const members = usersOf.get(id) ?? []
    const roles = rolesOf.get(id) ?? []
    const accesses = [...members, ...roles].map(({ organizationId }) => organizationId)
    return {
      ...account,
      accountId: id,
      systemAdministrator: systemAdministrator === 1,
      accesses: [...new Set(accesses)].map((organizationId) => {
        const member = members.find((row) => row.organizationId === organizationId)
        const role = roles.find((row) => row.organizationId === organizationId)
        const own = role === undefined ? [] : (groupsOf.get(role.id) ?? [])
        return {
          organizationId,
          rights: member ? toRights(member) : null,
          consoleRole: role?.role ?? null,
          groupIds: own.map(({ groupId }) => groupId),
        }
      }),
    }
  })
}

function toRights(member: { readonly role: OrganizationRole; readonly write: 0 | 1 | null }) {
  const grants: Grants = member.write === 1 ? { perm: 'write' } : {}
  return { role: member.role, grants }
}

/** Only those that may enter the console: by an organization, or as system administrators. */
function readAccounts(queries: Queries, scope: Scope, accountId: number | undefined) {
  return queries
    .selectFrom('accounts')
    .select(['id', 'name', 'email', 'systemAdministrator', 'createdAt', 'updatedAt'])
    .where((e) =>
      e.or([
        ...(scope.kind === 'all' ? [e('systemAdministrator', '=', 1)] : []),
        e(
          'id',
          'in',
          e.selectFrom('users').select('users.accountId').where(within(scope, 'users')),
        ),
        e(
          'id',
          'in',
          e
            .selectFrom('consoleUsers')
            .select('consoleUsers.accountId')
            .where(within(scope, 'consoleUsers')),
        ),
      ]),
    )
    .$if(accountId !== undefined, (some) => some.where('id', '=', accountId ?? 0))
    .orderBy('id')
    .execute()
}

function readMembers(queries: Queries, scope: Scope, accountId: number | undefined) {
  return queries
    .selectFrom('users')
    .leftJoin('permissions', (join) =>
      join
        .onRef('permissions.accountId', '=', 'users.accountId')
        .onRef('permissions.organizationId', '=', 'users.organizationId')
        .on('permissions.type', '=', 'perm'),
    )
    .select(['users.accountId', 'users.organizationId', 'users.role', 'permissions.write'])
    .where(within(scope, 'users'))
    .$if(accountId !== undefined, (some) => some.where('users.accountId', '=', accountId ?? 0))
    .orderBy('users.id')
    .execute()
}

function readRoles(queries: Queries, scope: Scope, accountId: number | undefined) {
  return queries
    .selectFrom('consoleUsers')
    .select(['id', 'accountId', 'organizationId', 'role'])
    .where(within(scope, 'consoleUsers'))
    .$if(accountId !== undefined, (some) => some.where('accountId', '=', accountId ?? 0))
    .orderBy('id')
    .execute()
}

function readGroups(queries: Queries, scope: Scope, accountId: number | undefined) {
  return queries
    .selectFrom('consoleUserGroups')
    .innerJoin('consoleUsers', 'consoleUsers.id', 'consoleUserGroups.consoleUserId')
    .select(['consoleUserGroups.consoleUserId', 'consoleUserGroups.groupId'])
    .where(within(scope, 'consoleUsers'))
    .$if(accountId !== undefined, (some) =>
      some.where('consoleUsers.accountId', '=', accountId ?? 0),
    )
    .orderBy('consoleUserGroups.groupId')
    .execute()
}

/** An account and where it has its role. */
interface RoleOwner {
  readonly accountId: number
  readonly organizationId: number | null
}

interface ConsoleRoleChange {
  readonly role: 'User' | 'ReadOnly'
  /** Left out: as they are. */
  readonly groupIds?: readonly number[] | undefined
  readonly now: number
}

/** Makes the role, or replaces it. */
export async function writeConsoleRole(
  queries: Queries,
  access: RoleOwner,
  { role, groupIds, now }: ConsoleRoleChange,
): Promise<void> {
  const id = await upsertRole(queries, access, role, now)
  if (groupIds === undefined) return
  await queries.deleteFrom('consoleUserGroups').where('consoleUserId', '=', id).execute()
  if (groupIds.length === 0) return
  const rows = groupIds.map((groupId) => ({ consoleUserId: id, groupId }))
  await queries.insertInto('consoleUserGroups').values(rows).execute()
}

async function upsertRole(
  queries: Queries,
  { accountId, organizationId }: RoleOwner,
  role: 'User' | 'ReadOnly',
  now: number,
): Promise<number> {
  const found = await queries
    .updateTable('consoleUsers')
    .set({ role, updatedAt: now })
    .where('accountId', '=', accountId)
    .where('organizationId', organizationId === null ? 'is' : '=', organizationId)
    .returning('id')
    .executeTakeFirst()
  if (found) return found.id
  const id = await insertRow(queries, 'consoleUsers', { accountId, organizationId, role }, now)
  await holdQuota(queries, organizationId, 'accounts')
  return id
}

/** One that has none changes nothing. */
export async function deleteConsoleRole(
  queries: Queries,
  { accountId, organizationId }: RoleOwner,
): Promise<void> {
  await queries
    .deleteFrom('consoleUsers')
    .where('accountId', '=', accountId)
    .where('organizationId', organizationId === null ? 'is' : '=', organizationId)
    .execute()
}

/** With its sessions, unless it belongs to somebody else. */
export async function deleteAccountMadeIn(
  queries: Queries,
  { accountId, organizationId }: RoleOwner,
): Promise<void> {
  await queries
    .deleteFrom('accounts')
    .where('id', '=', accountId)
    .where('organizationId', organizationId === null ? 'is' : '=', organizationId)
    .execute()
}

/** Of these the groups that may be assigned to users there: root groups of the same owner. */
export async function readAssignableGroupIds(
  queries: Queries,
  organizationId: number | null,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await queries
    .selectFrom('vclGroups')
    .select('id')
    .where('id', 'in', [...ids])
    .where('root', '=', 1)
    .where('organizationId', organizationId === null ? 'is' : '=', organizationId)
    .execute()
  return rows.map(({ id }) => id)
}
