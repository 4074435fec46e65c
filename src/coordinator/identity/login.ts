/** Logins by name and password. Every wrong login gets the same response after the same time (docs/behaviour.md, Tokens). */
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

/** Throws FleetError 'unauthenticated', 'limited' after too many failures, 'unavailable' for too many concurrent logins. */
export async function login(identity: Identity, attempt: LoginAttempt): Promise<Tokens> {
  const { service, passwords, limits } = identity
  const { user, password, organization, sourceAddress } = attempt
  const check = (): void => {
    limits.check(user, sourceAddress)
  }
  check()
  const found = await findEntry(service, user, organization)
  // `check` runs again before the hashing: concurrent guesses may have failed while this one was queued.
  const matches = await passwords.verify(found?.account.passwordHash, password, check)
  if (!found?.mayLogIn || !matches) {
    limits.countFailure(user, sourceAddress)
    throw wrongLogin()
  }
  limits.forgive(user, sourceAddress)
  const { account, organizationId } = found
  return startSession(identity, account.id, organizationId, async (queries) => {
    // A password change during the check ended the account's sessions, but would not end this new one.
    const now = await findLoginAccount(queries, account.id)
    if (now?.passwordHash !== account.passwordHash) throw wrongLogin()
  })
}

interface Entry {
  readonly account: LoginAccount
  readonly organizationId: number | null
  readonly mayLogIn: boolean
}

/** Undefined: the account does not exist. The queries are the same in every case, so that timing reveals nothing. */
async function findEntry(
  { store: { queries } }: StateService,
  user: string,
  organizationName: string | undefined,
): Promise<Entry | undefined> {
  // No stored name contains U+0000, and PostgreSQL rejects it in a query.
  const account = user.includes('\0') ? undefined : await findAccountByName(queries, user)
  if (organizationName === undefined)
    return account && { account, organizationId: null, mayLogIn: maySystemEnter(account) }
  const entry = await findMemberEntry(queries, organizationName, account?.id ?? 0)
  return account && { account, ...entry, mayLogIn: entry.mayLogIn && !account.locked }
}

function maySystemEnter({ systemAdministrator, locked }: LoginAccount): boolean {
  return systemAdministrator && !locked
}

/** `accountId` 0 matches no account, so `mayLogIn` is false. */
async function findMemberEntry(
  queries: Queries,
  organizationName: string,
  accountId: number,
): Promise<{ readonly organizationId: number; readonly mayLogIn: boolean }> {
  const organization = await findOrganizationByName(queries, organizationName)
  const organizationId = organization?.id ?? 0
  const rights = await findRights(queries, { organizationId, accountId })
  return { organizationId, mayLogIn: rights !== undefined && organization?.locked === false }
}

function wrongLogin(): FleetError {
  return unauthenticated('the name, the password or the organization is wrong')
}

/** Ends all sessions of the account. Throws FleetError 'forbidden' if `old` is wrong, 'invalid' if `fresh` is too short. */
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

/** Sets the password and ends the account's sessions in one transaction. */
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
