/** Name and password for a session; the same answer and time whatever of them is wrong (choices: 2, Tokens). */
import { credentialsChangedSubject } from '../../bus/bus.js'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import { findAccount, findAccountByName, updatePassword } from '../../store/accounts.js'
import { deleteSessionsOf } from '../../store/sessions.js'
import type { Identity } from './identity.js'
import { checkNewPassword } from './passwords.js'
import { startSession, unauthenticated, type Tokens } from './sessions.js'
import type { StateService } from './service.js'

export interface LoginAttempt {
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
  // A name with U+0000 cannot be stored, nor asked for on PostgreSQL.
  const account = user.includes('\0')
    ? undefined
    : await findAccountByName(service.store.queries, user)
  // Checked again at its turn: guesses that were sent together have failed meanwhile.
  const matches = await passwords.verify(account?.passwordHash, password, check)
  // Only the system administrator has an account so far, and it is of no organization.
  const mayEnter = account?.systemAdministrator === true && organization === undefined
  if (!account || !matches || !mayEnter || account.locked) {
    limits.countFailure(user, sourceAddress)
    throw unauthenticated('the name, the password or the organization is wrong')
  }
  limits.forgive(user, sourceAddress)
  return startSession(identity, account.id, null)
}

/** Ends all sessions of the account. Throws FleetError 'forbidden' when `old` is wrong, 'invalid' when `fresh` is short. */
export async function changeOwnPassword(
  identity: Identity,
  actor: Actor,
  { old, fresh }: { readonly old: string; readonly fresh: string },
  sourceAddress: string,
): Promise<void> {
  const { service, passwords, limits } = identity
  checkNewPassword(fresh, 'new')
  const check = (): void => {
    limits.check(actor.accountName, sourceAddress)
  }
  check()
  const account = await findAccount(service.store.queries, actor.accountId)
  if (!(await passwords.verify(account?.passwordHash, old, check))) {
    limits.countFailure(actor.accountName, sourceAddress)
    throw new FleetError('forbidden', 'auth', 'old is not the password of this account')
  }
  await replacePassword(service, actor.accountId, await passwords.hash(fresh))
}

/** Sets the password and ends the account's sessions, together. */
export async function replacePassword(
  { store, bus, now }: StateService,
  accountId: number,
  passwordHash: string,
): Promise<void> {
  await store.transaction(async (queries) => {
    await updatePassword(queries, accountId, passwordHash, now())
    await deleteSessionsOf(queries, accountId)
  })
  bus.publish(credentialsChangedSubject, {})
}
