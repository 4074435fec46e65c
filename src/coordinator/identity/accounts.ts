/** Accounts. An organization's administrators manage the accounts that are users of no other organization (docs/behaviour.md, Accounts). */
import { may, mayGrant, type Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import {
  accountReading,
  hasOtherSystemAdministrator,
  insertAccount,
  updateAccount as updateAccountRow,
  updatePassword,
  type AccountRecord,
} from './account-queries.js'
import { deleteSessionsOf } from './session-queries.js'
import type { Queries } from '../store/store.js'
import { isSame } from '../store/resource-rows.js'
import { deleteRow } from '../store/write-rows.js'
import { findRights, readOrganizationIdsOf, type Membership } from './user-queries.js'
import { withUniqueName } from '../api/find-references.js'
import type { StateService } from '../service.js'
import { mergeAccount, type AccountChange, type AccountFields } from './account-fields.js'
import {
  chooseOrganizations,
  replaceOrganizations,
  type AccountOrganizations,
} from './account-organizations.js'
import type { Identity } from './identity.js'
import { addMember, requireAuthority, requireOtherAdministrator } from './membership.js'
import { checkNewPassword } from './passwords.js'
import { notifyCredentialsChanged } from './sessions.js'

interface NewAccount extends AccountChange, AccountOrganizations {
  readonly name: string
  readonly password: string
}

/** A new account of an organization becomes its user at once; the system administrator's joins only the listed organizations. */
export async function createAccount(
  { service, passwords }: Identity,
  actor: Actor,
  wanted: NewAccount,
): Promise<AccountRecord> {
  const { store, now } = service
  const fields = mergeAccount(wanted)
  checkNewPassword(wanted.password, 'password')
  const { owner, memberOf } = await chooseOrganizations(store.queries, actor, wanted)
  const passwordHash = await passwords.hash(wanted.password)
  const id = await withUniqueName(fields.name, 'account', () =>
    store.decide(async (queries) => {
      const account = { systemAdministrator: false, passwordHash, organizationId: owner }
      const accountId = await insertAccount(queries, { ...account, ...fields, createdAt: now() })
      for (const organizationId of memberOf)
        await addMember(queries, { id: accountId, ...account }, organizationId, {
          actor,
          now: now(),
          errorKey: 'account',
        })
      return accountId
    }),
  )
  return accountReading.readAgain(service, actor, id)
}

/** A new password ends the account's sessions; a lock makes them invalid within 5 s. */
export async function updateAccount(
  { service, passwords }: Identity,
  actor: Actor,
  account: AccountRecord,
  change: AccountChange & AccountOrganizations & { readonly password?: string | undefined },
): Promise<AccountRecord> {
  const { store, now } = service
  const { id } = account
  const { password } = change
  const fields = mergeAccount(change, account)
  if (password !== undefined) checkNewPassword(password, 'password')
  await requireMayChange(store.queries, actor, account, { fields, password })
  const passwordHash = password === undefined ? undefined : await passwords.hash(password)
  await withUniqueName(fields.name, 'account', () =>
    store.decide(async (queries) => {
      // Checked again: the caller's rights may have changed during the hashing.
      await requireMayChange(queries, actor, account, { fields, password })
      await updateAccountRow(queries, id, fields, now())
      if (passwordHash !== undefined) {
        await updatePassword(queries, id, passwordHash, now())
        await deleteSessionsOf(queries, id)
      }
      await replaceOrganizations(queries, actor, account, { wanted: change.organizations, now })
    }),
  )
  notifyCredentialsChanged(service)
  return accountReading.readAgain(service, actor, id)
}

/** Throws 'conflict' for an organization's last administrator and for the last system administrator. */
export async function deleteAccount(
  service: StateService,
  account: AccountRecord,
  actor: Actor,
): Promise<void> {
  const { id: accountId } = account
  await service.store.decide(async (queries) => {
    await requireSole(queries, actor, accountId)
    requireAuthorityOfSystem(actor, account)
    if (account.systemAdministrator) await requireOtherSystemAdministrator(queries, accountId)
    for (const organizationId of await readOrganizationIdsOf(queries, accountId)) {
      const membership = { organizationId, accountId }
      await requireAuthority(queries, actor, membership, 'account')
      await requireOtherAdministrator(queries, membership, 'account')
    }
    // Also deletes its sessions and permissions.
    await deleteRow(queries, 'accounts', accountId)
  })
  notifyCredentialsChanged(service)
}

interface WantedChange {
  readonly fields: AccountFields
  readonly password: string | undefined
}

async function requireMayChange(
  queries: Queries,
  actor: Actor,
  account: AccountRecord,
  { fields, password }: WantedChange,
): Promise<void> {
  const { id: accountId } = account
  await requireSole(queries, actor, accountId)
  const locks = fields.locked && !account.locked
  if (account.systemAdministrator && locks)
    await requireOtherSystemAdministrator(queries, accountId)
  if (isSame(fields, account) && password === undefined) return
  requireAuthorityOfSystem(actor, account)
  for (const organizationId of await readOrganizationIdsOf(queries, accountId)) {
    const membership = { organizationId, accountId }
    await requireAuthority(queries, actor, membership, 'account')
    if (password !== undefined) await requireNoMore(queries, actor, membership)
    // In an emergency the system administrator may lock even an organization's last administrator.
    if (locks && actor.organizationId !== null)
      await requireOtherAdministrator(queries, membership, 'account')
  }
}

/** The caller could log in with the password that it sets, so the account must not have more rights than the caller. */
async function requireNoMore(
  queries: Queries,
  actor: Actor,
  membership: Membership,
): Promise<void> {
  const rights = await findRights(queries, membership)
  if (rights && !mayGrant(actor, rights))
    throw new FleetError(
      'forbidden',
      'account',
      'this account has permissions that you lack: setting its password needs write permission on perm',
    )
}

/** Throws 'forbidden' if the caller belongs to an organization and the account is a user of another one. */
export async function requireSole(
  queries: Queries,
  actor: Actor,
  accountId: number,
): Promise<void> {
  if (actor.organizationId === null) return
  const others = (await readOrganizationIdsOf(queries, accountId)).filter(
    (id) => id !== actor.organizationId,
  )
  if (others.length > 0)
    throw new FleetError(
      'forbidden',
      'account',
      'this account belongs to several organizations: only the system administrator can change it',
    )
}

/** Prevents a restricted API token from gaining full rights by setting a system administrator's password. */
function requireAuthorityOfSystem(actor: Actor, { systemAdministrator }: AccountRecord): void {
  if (!systemAdministrator || may(actor, 'perm', 'write')) return
  throw new FleetError(
    'forbidden',
    'account',
    'this account is a system administrator: changing it needs write permission on perm',
  )
}

async function requireOtherSystemAdministrator(queries: Queries, id: number): Promise<void> {
  if (await hasOtherSystemAdministrator(queries, id)) return
  throw new FleetError('conflict', 'account', 'this is the last system administrator')
}
