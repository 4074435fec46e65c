/** Changes and removes users of the console: the own password and address by everybody, all else by an Admin. */
import type { ConsoleRole } from '../../../resources/console-role.js'
import { toObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import {
  accountReading,
  updateAccount as updateAccountRow,
} from '../../identity/account-queries.js'
import { deleteAccountMadeIn, deleteConsoleRole, type ConsoleUserRecord } from './user-queries.js'
import type { Queries } from '../../store/store.js'
import { deleteUser, findRights, updateRole } from '../../identity/user-queries.js'
import { mergeAccount, type AccountChange } from '../../identity/account-fields.js'
import { updateAccount } from '../../identity/accounts.js'
import type { Identity } from '../../identity/identity.js'
import { replacePassword } from '../../identity/login.js'
import {
  removeMember,
  requireAuthority,
  requireGrantable,
  requireOtherAdministrator,
} from '../../identity/membership.js'
import { checkNewPassword } from '../../identity/passwords.js'
import { notifyCredentialsChanged } from '../../identity/sessions.js'
import { scopeOf, type StateService } from '../../service.js'
import { giveRole, requireRoleOf } from './user-making.js'
import {
  findConsoleUser,
  findRecord,
  isAdmin,
  requireGroups,
  toConsoleUser,
  type ConsoleUser,
} from './users.js'

interface ConsoleUserChange {
  readonly password?: string
  readonly email?: string
  readonly role?: ConsoleRole
  readonly groups?: readonly string[]
}

/** Throws 'forbidden' for a role or groups that the caller may not give, 'conflict' for the own role and the last administrator. */
export async function updateConsoleUser(
  identity: Identity,
  actor: Actor,
  user: ConsoleUser,
  change: ConsoleUserChange,
): Promise<ConsoleUser> {
  const { service } = identity
  const isRoleChange = changesRole(user, change)
  if (isRoleChange) requireMayAssign(actor, user)
  if (change.password !== undefined) checkNewPassword(change.password, 'password')
  // Checked before anything is written, and again under the lock.
  if (isRoleChange) await prepareRole(service.store.queries, actor, user.accountId, change)
  await changeAccount(identity, actor, user, change)
  if (isRoleChange)
    await service.store.decide((queries) => changeRole(service, queries, { actor, user, change }))
  notifyCredentialsChanged(service)
  const changed = await findConsoleUser(service, actor, user.accountId)
  if (!changed) throw notFound(user)
  return changed
}

/** The role goes, and the account where it was made here and is nowhere else. Throws 'conflict' for oneself and the last one. */
export async function deleteConsoleUser(
  service: StateService,
  actor: Actor,
  user: ConsoleUser,
): Promise<void> {
  const { accountId } = user
  if (accountId === actor.accountId)
    throw new FleetError('conflict', 'user', 'you cannot remove your own user; another Admin can')
  await service.store.decide(async (queries) => {
    const record = await requireRecord(queries, actor, user)
    const organizationId = requireOneAccess(record)
    const access = { accountId, organizationId }
    if (organizationId !== null && toConsoleUser(actor, record)?.role === 'Admin') {
      const membership = { accountId, organizationId }
      await requireAuthority(queries, actor, membership, 'user')
      await removeMember(queries, membership, 'user')
    } else await deleteConsoleRole(queries, access)
    const left = await findRecord(queries, { kind: 'all' }, accountId)
    if (!left) await deleteAccountMadeIn(queries, access)
  })
  notifyCredentialsChanged(service)
}

function changesRole(user: ConsoleUser, { role, groups }: ConsoleUserChange): boolean {
  if (role !== undefined && role !== user.role) return true
  if (groups === undefined) return false
  const before = new Set(user.groupIds.map((id) => toObjectId('group', id)))
  const wanted = new Set(groups)
  return wanted.size !== before.size || [...wanted].some((id) => !before.has(id))
}

function requireMayAssign(actor: Actor, { accountId }: ConsoleUser): void {
  if (!isAdmin(actor))
    throw new FleetError('forbidden', 'user', 'role and groups are given by an Admin')
  if (accountId === actor.accountId)
    throw new FleetError('conflict', 'user', 'you cannot change your own role; another Admin can')
}

/** The account's own fields. Its own it changes itself, others by the rules of the controller's accounts. */
async function changeAccount(
  identity: Identity,
  actor: Actor,
  { accountId }: ConsoleUser,
  { password, email }: ConsoleUserChange,
): Promise<void> {
  if (password === undefined && email === undefined) return
  const { service, passwords } = identity
  const { store, now } = service
  const isSelf = accountId === actor.accountId
  const scope = isSelf ? ({ kind: 'all' } as const) : scopeOf(actor)
  const account = await accountReading.find(store.queries, scope, accountId)
  if (!account) throw notFound({ accountId })
  const change: AccountChange = email === undefined ? {} : { email }
  if (!isSelf) {
    await updateAccount(identity, actor, account, { ...change, ...(password && { password }) })
    return
  }
  await updateAccountRow(store.queries, accountId, mergeAccount(change, account), now())
  if (password !== undefined)
    await replacePassword(service, accountId, await passwords.hash(password))
}

interface PreparedRole {
  readonly record: ConsoleUserRecord
  readonly organizationId: number | null
  readonly before: ConsoleRole | null
  readonly role: ConsoleRole
  readonly groupIds: readonly number[] | undefined
}

async function prepareRole(
  queries: Queries,
  actor: Actor,
  accountId: number,
  { role: wanted, groups }: ConsoleUserChange,
): Promise<PreparedRole> {
  const record = await requireRecord(queries, actor, { accountId })
  const organizationId = requireOneAccess(record)
  const before = toConsoleUser(actor, record)?.role ?? null
  const role = wanted ?? before ?? 'ReadOnly'
  requireRoleOf(organizationId, role, groups ?? [])
  const groupIds = groups && (await requireGroups(queries, organizationId, groups))
  if (before === 'Admin' && role !== 'Admin' && organizationId !== null) {
    requireGrantable(actor, 'administrator', 'user')
    await requireOtherAdministrator(queries, { accountId, organizationId }, 'user')
  }
  return { record, organizationId, before, role, groupIds }
}

/** Under the decision lock. */
async function changeRole(
  { now }: StateService,
  queries: Queries,
  wanted: {
    readonly actor: Actor
    readonly user: ConsoleUser
    readonly change: ConsoleUserChange
  },
): Promise<void> {
  const { actor, user, change } = wanted
  const { accountId } = user
  const prepared = await prepareRole(queries, actor, accountId, change)
  const { record, organizationId, before, role, groupIds } = prepared
  if (before === 'Admin' && role === 'Admin') return
  if (before === 'Admin' && organizationId !== null)
    await takeAdministration(queries, { accountId, organizationId }, now())
  const account = { id: accountId, systemAdministrator: record.systemAdministrator }
  await giveRole(queries, actor, account, { organizationId, role, groupIds, now })
}

async function takeAdministration(
  queries: Queries,
  membership: { readonly accountId: number; readonly organizationId: number },
  now: number,
): Promise<void> {
  const rights = await findRights(queries, membership)
  if (!rights) return
  if (rights.grants.perm === 'write')
    throw new FleetError(
      'conflict',
      'user',
      'its permission to write "perm" makes it an Admin; take that permission away first',
    )
  // One that may do nothing in the controller need not be a user there: it is as before it was made an Admin.
  if (Object.keys(rights.grants).length === 0) await deleteUser(queries, membership)
  else await updateRole(queries, rights.userId, 'regular', now)
}

async function requireRecord(
  queries: Queries,
  actor: Actor,
  { accountId }: Pick<ConsoleUser, 'accountId'>,
): Promise<ConsoleUserRecord> {
  const record = await findRecord(queries, scopeOf(actor), accountId)
  if (!record) throw notFound({ accountId })
  return record
}

/** Where the role is changed: in the caller's organization, or in the only one that the account is in. */
function requireOneAccess({ systemAdministrator, accesses }: ConsoleUserRecord): number | null {
  const [access, another] = accesses
  if (systemAdministrator || !access)
    throw new FleetError(
      'conflict',
      'user',
      'this is a system administrator, who is one by the controller alone: an account is deleted there',
    )
  if (another)
    throw new FleetError(
      'conflict',
      'user',
      'this account is of several organizations, whose own Admins change its role',
    )
  return access.organizationId
}

function notFound({ accountId }: Pick<ConsoleUser, 'accountId'>): FleetError {
  return new FleetError('not-found', 'user', `${toObjectId('user', accountId)} was not found`)
}
