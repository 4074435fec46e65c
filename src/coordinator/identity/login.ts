/** Name and password for a session; the same answer and time whatever of them is wrong (docs/behaviour.md, Tokens). */
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import {
  findAccountByName,
  findLoginAccount,
  updatePassword,
  type LoginAccount,
} from './account-queries.js'
import { findOrganizationByName } from './organization-queries.js'
import { deleteSessionsOf } from './session-queries.js'
import type { Queries } from '../store/store.js'
import { findRights } from './user-queries.js'
import type { Identity } from './identity.js'
import { checkNewPassword } from './passwords.js'
import { startSession, notifyCredentialsChanged, unauthenticated, type Tokens } from './sessions.js'
import type { StateService } from '../service.js'

interface LoginAttempt {
  readonly user: string
  readonly password: string
  /** Undefined for the system administrator. */
  readonly organization: string | undefined
  readonly sourceAddress: string
}

/** Throws FleetError 'unauthenticated', 'limited' after too many failures, 'unavailable' under too many logins at once. */
export async function login(identity: Identity, attempt: LoginAttempt): Promise<Tokens> {
  const { service, passwords, limits } = identity
  const { user, password, organization, sourceAddress } = attempt
  const check = (): void => {
    limits.check(user, sourceAddress)
  }
  check()
  const found = await findEntry(service, user, organization)
  // Checked again at its turn: guesses that were sent together have failed meanwhile.
  const matches = await passwords.verify(found?.account.passwordHash, password, check)
  if (!found?.mayEnter || !matches) {
    limits.countFailure(user, sourceAddress)
    throw wrongLogin()
  }
  limits.forgive(user, sourceAddress)
  const { account, organizationId } = found
  return startSession(identity, account.id, organizationId, async (queries) => {
    // A password that was replaced while this one was checked has ended the account's sessions, but not this new one.
    const now = await findLoginAccount(queries, account.id)
    if (now?.passwordHash !== account.passwordHash) throw wrongLogin()
  })
}

interface Entry {
  readonly account: LoginAccount
  readonly organizationId: number | null
  readonly mayEnter: boolean
}

/** Undefined: there is no such account. The same queries whatever is wrong. */
async function findEntry(
  { store: { queries } }: StateService,
  user: string,
  organizationName: string | undefined,
): Promise<Entry | undefined> {
  // A name with U+0000 cannot be stored, nor asked for on PostgreSQL.
  const account = user.includes('\0') ? undefined : await findAccountByName(queries, user)
  if (organizationName === undefined)
    return account && { account, organizationId: null, mayEnter: maySystemEnter(account) }
  const entry = await findMemberEntry(queries, organizationName, account?.id ?? 0)
  return account && { account, ...entry, mayEnter: entry.mayEnter && !account.locked }
}

function maySystemEnter({ systemAdministrator, locked }: LoginAccount): boolean {
  return systemAdministrator && !locked
}

/** `accountId` 0: of nobody, who may not. */
async function findMemberEntry(
  queries: Queries,
  organizationName: string,
  accountId: number,
): Promise<{ readonly organizationId: number; readonly mayEnter: boolean }> {
  const organization = await findOrganizationByName(queries, organizationName)
  const organizationId = organization?.id ?? 0
  const rights = await findRights(queries, { organizationId, accountId })
  return { organizationId, mayEnter: rights !== undefined && organization?.locked === false }
}

function wrongLogin(): FleetError {
  return unauthenticated('the name, the password or the organization is wrong')
}

/** Ends all sessions of the account. Throws FleetError 'forbidden' when `old` is wrong, 'invalid' when `fresh` is short. */
export async function changeOwnPassword(
  identity: Identity,
  actor: Actor,
  { old, fresh }: { readonly old: string; readonly fresh: string },
  sourceAddress: string,
): Promise<void> {
  const { service, passwords, limits } = identity
  checkNewPassword(fresh, 'new', 'auth')
  const check = (): void => {
    limits.check(actor.accountName, sourceAddress)
  }
  check()
  const account = await findLoginAccount(service.store.queries, actor.accountId)
  if (!(await passwords.verify(account?.passwordHash, old, check))) {
    limits.countFailure(actor.accountName, sourceAddress)
    throw new FleetError('forbidden', 'auth', 'old is not the password of this account')
  }
  await replacePassword(service, actor.accountId, await passwords.hash(fresh))
}

/** Sets the password and ends the account's sessions, together. */
export async function replacePassword(
  service: StateService,
  accountId: number,
  passwordHash: string,
): Promise<void> {
  const { store, now } = service
  await store.transaction(async (queries) => {
    await updatePassword(queries, accountId, passwordHash, now())
    await deleteSessionsOf(queries, accountId)
  })
  notifyCredentialsChanged(service)
}
