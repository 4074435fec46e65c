/** A new user of the console: a new account with a role, or a role for an account that is there (docs/behaviour.md, Console users). */
import type { ConsoleRole } from '../../../resources/console-role.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { accountReading, findAccountByName, insertAccount } from '../../identity/account-queries.js'
import { deleteConsoleRole, writeConsoleRole } from './user-queries.js'
import type { Queries } from '../../store/store.js'
import { updateRole } from '../../identity/user-queries.js'
import { mergeAccount } from '../../identity/account-fields.js'
import type { Identity } from '../../identity/identity.js'
import { addMember, requireGrantable } from '../../identity/membership.js'
import { checkNewPassword } from '../../identity/passwords.js'
import { notifyCredentialsChanged } from '../../identity/sessions.js'
import { withUniqueName } from '../../api/find-references.js'
import { scopeOf } from '../../service.js'
import { findRecord, requireGroups, toConsoleUser, type ConsoleUser } from './users.js'

interface NewConsoleUser {
  readonly username: string
  /** Left out: an account of this name is there. */
  readonly password?: string
  readonly email?: string
  readonly role: ConsoleRole
  readonly groups?: readonly string[]
}

/** Throws 'conflict' for a name that is taken, or a user that is one already. */
export async function createConsoleUser(
  identity: Identity,
  actor: Actor,
  wanted: NewConsoleUser,
): Promise<ConsoleUser> {
  const { service } = identity
  const { queries } = service.store
  const { role, groups = [] } = wanted
  requireRoleOf(actor.organizationId, role, groups)
  const groupIds = await requireGroups(queries, actor.organizationId, groups)
  const accountId =
    wanted.password === undefined
      ? await joinAccount(identity, actor, wanted, groupIds)
      : await makeAccount(identity, actor, { ...wanted, password: wanted.password }, groupIds)
  notifyCredentialsChanged(service)
  const record = await findRecord(queries, scopeOf(actor), accountId)
  const user = record && toConsoleUser(actor, record)
  if (!user) throw new FleetError('not-found', 'user', `${wanted.username} was not found`)
  return user
}

/** Throws 'invalid' for a role that cannot be given there, or groups that it has no use for. */
export function requireRoleOf(
  organizationId: number | null,
  role: ConsoleRole,
  groups: readonly unknown[],
): void {
  if (role !== 'Admin') return
  if (organizationId === null)
    throw new FleetError(
      'invalid',
      'user',
      'role: an Admin of no organization is a system administrator; "cachefleetd admin add NAME" makes one on the host',
    )
  if (groups.length > 0)
    throw new FleetError('invalid', 'user', 'groups: an Admin sees all of them; leave the key out')
}

async function makeAccount(
  { service, passwords }: Identity,
  actor: Actor,
  wanted: NewConsoleUser & { readonly password: string },
  groupIds: readonly number[],
): Promise<number> {
  const { store, now } = service
  const { username: name, email, password, role } = wanted
  const fields = mergeAccount({ name, ...(email !== undefined && { email }) })
  checkNewPassword(password, 'password')
  const passwordHash = await passwords.hash(password)
  const { organizationId } = actor
  return withUniqueName(name, 'account', () =>
    store.decide(async (queries) => {
      const account = { systemAdministrator: false, passwordHash, organizationId }
      const id = await insertAccount(queries, { ...account, ...fields, createdAt: now() })
      await giveRole(queries, actor, { id, ...account }, { organizationId, role, groupIds, now })
      return id
    }),
  )
}

async function joinAccount(
  { service }: Identity,
  actor: Actor,
  { username, role }: NewConsoleUser,
  groupIds: readonly number[],
): Promise<number> {
  const { store, now } = service
  const { organizationId } = actor
  return store.decide(async (queries) => {
    const named = username.includes('\0') ? undefined : await findAccountByName(queries, username)
    const account = named && (await accountReading.find(queries, scopeOf(actor), named.id))
    if (!account)
      throw new FleetError('invalid', 'user', 'password is missing; a new account needs one')
    await requireNewcomer(queries, actor, account)
    await giveRole(queries, actor, account, { organizationId, role, groupIds, now })
    return account.id
  })
}

async function requireNewcomer(
  queries: Queries,
  actor: Actor,
  account: { readonly id: number; readonly name: string },
): Promise<void> {
  const conflict = (what: string): FleetError =>
    new FleetError('conflict', 'user', `${JSON.stringify(account.name)} ${what}`)
  const record = await findRecord(queries, scopeOf(actor), account.id)
  if (!record) return
  // Access without an organization has no name to log in by.
  if (
    actor.organizationId === null &&
    record.accesses.some((access) => access.organizationId !== null)
  )
    throw conflict('is of an organization, whose own Admins give it its role')
  const isSelf = account.id === actor.accountId
  if (isSelf || toConsoleUser(actor, record)) throw conflict('is a user already; PATCH changes it')
}

interface GivenRole {
  readonly organizationId: number | null
  readonly role: ConsoleRole
  /** Left out: as they are. */
  readonly groupIds?: readonly number[] | undefined
  readonly now: () => number
}

/** Under the decision lock. To an account that is not an administrator there. */
export async function giveRole(
  queries: Queries,
  actor: Actor,
  account: { readonly id: number; readonly systemAdministrator: boolean },
  { organizationId, role, groupIds, now }: GivenRole,
): Promise<void> {
  const access = { accountId: account.id, organizationId }
  if (role !== 'Admin') {
    await writeConsoleRole(queries, access, { role, groupIds, now: now() })
    return
  }
  requireRoleOf(organizationId, role, [])
  if (organizationId === null) return
  requireGrantable(actor, 'administrator', 'user')
  const { userId, wasThere } = await addMember(queries, account, organizationId, {
    actor,
    role: 'administrator',
    now: now(),
    errorKey: 'user',
  })
  if (wasThere) await updateRole(queries, userId, 'administrator', now())
  await deleteConsoleRole(queries, access)
}
