/** System administrators: the first one of an empty store, further ones, and password recovery (docs/behaviour.md, First administrator). */
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
  /** CACHEFLEET_ADMIN_USER and _PASSWORD; null: not set. */
  readonly user: string | null
  readonly password: string | null
  readonly stdoutIsTerminal: boolean
}

export interface FirstAdministrator {
  readonly name: string
  /** The file with the generated password; null: CACHEFLEET_ADMIN_PASSWORD was set. */
  readonly passwordFile: string | null
  /** Shown once, on a terminal; null: nothing to show. Never logged. */
  readonly passwordToShow: string | null
}

const defaultName = 'admin'
const passwordFileName = 'admin-password'

/** Returns null if an account already exists. Throws FleetError 'invalid' for an unfit password or name: exit 78. */
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
  // Written before the account exists: otherwise a failed write would leave an account whose password is lost.
  if (passwordFile !== null) await writePassword(passwordFile, chosen)
  const passwordHash = await createPasswords().hash(chosen)
  const made = await service.store.decide(async (queries) => {
    if (await hasAccounts(queries)) return false
    const createdAt = service.now()
    await insertAccount(queries, { name, passwordHash, systemAdministrator: true, createdAt })
    return true
  })
  if (!made) {
    // Another coordinator of the same store created the account first.
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
 * For `cachefleetd admin set-password NAME`; safe while the daemon runs. Ends the account's sessions and removes the
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
 * For `cachefleetd admin add NAME`. Write access to the store is enough to create system administrators; the API never
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

/** Removes an old file first, so that the new one has mode 0600. */
async function writePassword(file: string, password: string): Promise<void> {
  await rm(file, { force: true })
  await writeFile(file, `${password}\n`, { mode: 0o600, flag: 'wx' })
}
