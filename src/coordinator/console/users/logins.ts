/**
 * Authenticates callers of the console: by name and password with every call, or by the cookie of a login (docs/behaviour.md,
 * Console). Results are cached for some seconds; a correct password is not checked again until the account changes it.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { credentialsChangedSubject } from '../../bus/subjects.js'
import { readLoginName } from '../../../resources/console-role.js'
import type { Actor } from '../../../resources/permission.js'
import type { FleetError } from '../../../errors.js'
import { findAccountByName, type LoginAccount } from '../../identity/account-queries.js'
import type { Queries } from '../../store/store.js'
import type { Identity } from '../../identity/identity.js'
import { unauthenticated } from '../../identity/sessions.js'
import { findAccessByName } from './organization-access.js'
import { createBoundedCache } from '../../../runtime/bounded-cache.js'

interface ConsoleCredentials {
  /** `account` or `account@organization`. */
  readonly user: string
  readonly password: string
  readonly sourceAddress: string
}

export interface ConsoleLogins {
  /** Throws FleetError 'unauthenticated', 'limited' after too many failures, 'unavailable' under too many at once. */
  recognize(credentials: ConsoleCredentials): Promise<Actor>
  close(): void
}

interface FoundAccount {
  readonly account: LoginAccount
  readonly name: string
  /** The name after the `@`; undefined: none was given. */
  readonly organization: string | undefined
}

interface Remembered {
  readonly passwordHash: string
  readonly actor: Actor
  readonly untilMs: number
  /** Number of credential changes when it was checked; after another one it is checked again. */
  readonly changes: number
}

/** docs/behaviour.md, Tokens: revocation takes effect within 5 s, even when its hint is lost. */
const believedMs = 4_000
/** Beyond this the least recently used are checked again. */
const maxRemembered = 1_000

export function createConsoleLogins(identity: Identity): ConsoleLogins {
  const { service, passwords, limits } = identity
  /** Keys of the cache are digests that are useless outside this process. */
  const secret = randomBytes(32)
  const remembered = createBoundedCache<string, Remembered>(maxRemembered)
  /** Checks in progress: simultaneous calls share one. */
  const checking = new Map<string, Promise<Actor>>()
  let changes = 0
  const subscription = service.bus.subscribe(credentialsChangedSubject, () => {
    changes += 1
  })
  return {
    recognize: async (credentials) => {
      const { user, password, sourceAddress } = credentials
      // An address that guesses learns nothing from results cached for another one.
      const key = createHmac('sha256', secret)
        .update(JSON.stringify([user, password, sourceAddress]))
        .digest('hex')
      const known = remembered.get(key)
      if (known?.changes === changes && known.untilMs > service.now()) return known.actor
      const running = checking.get(key)
      if (running) return running
      const check = checkAgain(key, credentials, known?.passwordHash)
      checking.set(key, check)
      try {
        return await check
      } finally {
        checking.delete(key)
      }
    },
    close: () => {
      subscription.close()
    },
  }

  async function checkAgain(
    key: string,
    credentials: ConsoleCredentials,
    knownHash: string | undefined,
  ): Promise<Actor> {
    remembered.delete(key)
    const known = { untilMs: service.now() + believedMs, changes }
    const { account, actor } = await check(credentials, knownHash)
    remembered.set(key, { passwordHash: account.passwordHash, actor, ...known })
    return actor
  }

  async function check(
    guess: ConsoleCredentials,
    knownHash: string | undefined,
  ): Promise<{ account: LoginAccount; actor: Actor }> {
    const found = await findAccount(service.store.queries, guess.user)
    if (knownHash === undefined || found?.account.passwordHash !== knownHash)
      await verifyGuess(guess, found)
    if (found?.account.locked !== false) throw wrongCredentials()
    const named = { ...found.account, name: found.name }
    const actor = await findAccessByName(service.store.queries, named, found.organization)
    return { account: found.account, actor }
  }

  async function verifyGuess(
    { user, password, sourceAddress }: ConsoleCredentials,
    found: FoundAccount | undefined,
  ): Promise<void> {
    // Guesses at one account count together, however its name and organization were written.
    const name = found?.name ?? user
    const checkLimit = (): void => {
      limits.check(name, sourceAddress)
    }
    checkLimit()
    // Checked again when its turn comes: simultaneous guesses may have failed meanwhile.
    const matches = await passwords.verify(found?.account.passwordHash, password, checkLimit)
    if (!matches || found?.account.locked !== false) {
      limits.countFailure(name, sourceAddress)
      throw wrongCredentials()
    }
    limits.forgive(name, sourceAddress)
  }
}

async function findAccount(queries: Queries, user: string): Promise<FoundAccount | undefined> {
  if (user.includes('\0')) return undefined // cannot be stored, nor asked for on PostgreSQL
  for (const { account: name, organization } of readLoginName(user)) {
    const account = await findAccountByName(queries, name)
    if (account) return { account, name, organization }
  }
  return undefined
}

function wrongCredentials(): FleetError {
  return unauthenticated('the name or the password is wrong')
}
