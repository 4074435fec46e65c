/** System administrators: the one that an empty store gets, others beside it, and the way back in (docs/behaviour.md, First administrator). */
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findAccountNameProblem } from '../../resources/names.js'
import { FleetError } from '../../errors.js'
import { findAccountByName, hasAccounts, insertAccount } from './account-queries.js'
import { withUniqueName } from '../api/find-references.js'
import { replacePassword } from './login.js'
import { checkNewPassword, createPasswords } from './passwords.js'
import type { StateService } from '../service.js'

interface FirstAdministratorOptions {
  readonly stateDir: string
  /** CACHEFLEET_ADMIN_USER and _PASSWORD; null: not given. */
  readonly user: string | null
  readonly password: string | null
  readonly stdoutIsTerminal: boolean
}

export interface FirstAdministrator {
  readonly name: string
  /** Holds the password; null: it was given. */
  readonly passwordFile: string | null
  /** To be shown once, on a terminal; null: nothing to show. Never logged. */
  readonly passwordToShow: string | null
}

const defaultName = 'admin'
const passwordFileName = 'admin-password'

/** Answers null when there is an account already. Throws FleetError 'invalid' for a password that is too short: exit 78. */
export async function ensureFirstAdministrator(
  service: StateService,
  { stateDir, user, password, stdoutIsTerminal }: FirstAdministratorOptions,
): Promise<FirstAdministrator | null> {
  if (password !== null) checkNewPassword(password, 'CACHEFLEET_ADMIN_PASSWORD')
  if (user !== null) checkName(user, 'CACHEFLEET_ADMIN_USER')
  if (await hasAccounts(service.store.queries)) return null

  const name = user ?? defaultName
  const chosen = password ?? randomBytes(18).toString('base64url')
  const passwordFile = password === null ? join(stateDir, passwordFileName) : null
  // Written first: an account whose password nobody knows would lock everybody out.
  if (passwordFile !== null) await writePassword(passwordFile, chosen)
  const passwordHash = await createPasswords().hash(chosen)
  const made = await service.store.decide(async (queries) => {
    if (await hasAccounts(queries)) return false
    const createdAt = service.now()
    await insertAccount(queries, { name, passwordHash, systemAdministrator: true, createdAt })
    return true
  })
  if (!made) {
    // Another coordinator of the same store was faster.
    if (passwordFile !== null) await rm(passwordFile, { force: true })
    return null
  }
  return {
    name,
    passwordFile,
    passwordToShow: stdoutIsTerminal && password === null ? chosen : null,
  }
}

/**
 * For `cachefleetd admin set-password NAME`, also while the daemon runs. Ends the account's sessions and removes the
 * file of the first password. Throws FleetError 'not-found' or 'invalid'.
 */
export async function setPassword(
  service: StateService,
  stateDir: string,
  name: string,
  password: string,
): Promise<void> {
  checkNewPassword(password, 'the password')
  const account = await findAccountByName(service.store.queries, name)
  if (!account) throw new FleetError('not-found', 'account', `there is no account ${name}`)
  await replacePassword(service, account.id, await createPasswords().hash(password))
  await rm(join(stateDir, passwordFileName), { force: true })
}

/**
 * For `cachefleetd admin add NAME`. Whoever may write the store may create system administrators; the API never
 * creates one. Throws FleetError 'invalid', or 'conflict' for a name that is taken.
 */
export async function addSystemAdministrator(
  { store, now }: StateService,
  name: string,
  password: string,
): Promise<void> {
  checkName(name, 'the name')
  checkNewPassword(password, 'the password')
  const passwordHash = await createPasswords().hash(password)
  const account = { name, passwordHash, systemAdministrator: true, createdAt: now() }
  await withUniqueName(name, 'account', () => insertAccount(store.queries, account))
}

function checkName(name: string, key: string): void {
  const problem = findAccountNameProblem(name)
  if (problem !== null) throw new FleetError('invalid', 'account', `${key}: ${problem}`)
}

/** Removed before it is written, so that the mode is ours also where an old file lies. */
async function writePassword(file: string, password: string): Promise<void> {
  await rm(file, { force: true })
  await writeFile(file, `${password}\n`, { mode: 0o600, flag: 'wx' })
}
