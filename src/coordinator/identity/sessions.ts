/**
 * A session from login to its end. It issues pairs of tokens; each refresh token is valid once, and its second use ends
 * the session (docs/behaviour.md, Tokens).
 */
import { randomBytes } from 'node:crypto'
import { credentialsChangedSubject } from '../bus/subjects.js'
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import { findOrganization } from './organization-queries.js'
import {
  deleteExpiredSessions,
  deleteOldestLogins,
  deleteSession,
  findSession,
  insertSession,
  replaceRefreshDigest,
  type SessionRecord,
  type SessionTimes,
} from './session-queries.js'
import type { Queries } from '../store/store.js'
import type { Identity } from './identity.js'
import type { StateService } from '../service.js'
import { digestToken, makeRefreshToken, readRefreshToken, signAccessToken } from './tokens.js'

/** The Login response; times are seconds since 1970. */
export interface Tokens {
  readonly accessToken: string
  readonly accessExpire: number
  readonly refreshToken: string
  readonly refreshExpire: number
}

/** The lifetimes of an organization, or the service's for the system administrator. */
interface TokenLifetimes {
  readonly accessTtlSeconds: number
  readonly refreshTtlSeconds: number
}

/** With more logins the account's oldest one ends. */
const loginsOfAccount = 1000

/** The account must be authenticated already. `stillTrue` checks again once the session exists; it rejects to undo the login. */
export async function startSession(
  identity: Identity,
  accountId: number,
  organizationId: number | null,
  stillTrue: (queries: Queries) => Promise<void> = () => Promise.resolve(),
): Promise<Tokens> {
  const { service, refreshKey } = identity
  const createdAt = service.now()
  const organization =
    organizationId === null
      ? undefined
      : await findOrganization(service.store.queries, organizationId)
  const times = sessionTimes(organization ?? service.settings, createdAt)
  const { sessionId, refreshToken } = await service.store.transaction(async (queries) => {
    // The token contains its session's id, so the row is inserted first, with a digest that no token has.
    const refreshDigest = randomBytes(32).toString('hex')
    const id = await insertSession(queries, {
      ...times,
      accountId,
      organizationId,
      refreshDigest,
      createdAt,
    })
    const token = makeRefreshToken(refreshKey, id)
    await replaceRefreshDigest(queries, id, refreshDigest, {
      ...times,
      refreshDigest: digestToken(token),
    })
    await deleteOldestLogins(queries, { accountId }, loginsOfAccount)
    await stillTrue(queries)
    return { sessionId: id, refreshToken: token }
  })
  return makeTokens(identity, sessionId, refreshToken, times)
}

interface Refresh {
  readonly token: string
  readonly sourceAddress: string
  /** Called with the session's organization and account as soon as they are known. */
  readonly note: (about: { readonly organization: number | null; readonly account: string }) => void
}

/** Throws FleetError 'unauthenticated'; 'limited' after too many forged tokens from the address. */
export async function refreshSession(
  identity: Identity,
  context: Context,
  { token, sourceAddress, note }: Refresh,
): Promise<Tokens> {
  const { service, refreshKey, limits } = identity
  const { queries } = service.store
  const sessionId = readRefreshToken(refreshKey, token)
  if (sessionId === undefined) {
    limits.check(null, sourceAddress)
    limits.countFailure(null, sourceAddress)
    throw unauthenticated('the refresh token was not issued by this service')
  }
  const session = await findSession(queries, sessionId)
  if (session) note({ organization: session.organizationId, account: session.account.name })
  const now = service.now()
  if (!session || !isSessionValid(session) || session.refreshExpiresAt <= now)
    throw unauthenticated('the session has ended; log in again')

  const times = sessionTimes(session.organization ?? service.settings, now)
  const next = makeRefreshToken(refreshKey, sessionId)
  const oldDigest = digestToken(token)
  const rotated =
    session.refreshDigest === oldDigest &&
    (await replaceRefreshDigest(queries, sessionId, oldDigest, {
      ...times,
      refreshDigest: digestToken(next),
    }))
  if (!rotated) {
    context.log.warn(
      { sessionId, account: session.account.name },
      'a refresh token was used twice: its session ends',
    )
    await endSession(service, sessionId)
    throw unauthenticated('the refresh token was used before; its session has ended')
  }
  return makeTokens(identity, sessionId, next, times)
}

/** Its access tokens are refused within 5 s, also by other coordinators. */
export async function endSession(service: StateService, sessionId: number): Promise<void> {
  await deleteSession(service.store.queries, sessionId)
  notifyCredentialsChanged(service)
}

/** Must follow every change of what tokens allow, so that all coordinators read the store again. */
export function notifyCredentialsChanged({ bus }: StateService): void {
  bus.publish(credentialsChangedSubject, {})
}

export async function removeExpiredSessions({ store, now }: StateService): Promise<void> {
  await deleteExpiredSessions(store.queries, now())
}

/** False while a lock disables the session without ending it, or if its account no longer belongs to the organization. */
export function isSessionValid({ account, organization, role }: SessionRecord): boolean {
  if (account.locked || organization?.locked === true) return false
  // Only the system administrator belongs to no organization.
  return organization === null ? account.systemAdministrator : role !== null
}

export function unauthenticated(message: string): FleetError {
  return new FleetError('unauthenticated', 'auth', message)
}

function sessionTimes(lifetimes: TokenLifetimes, now: number): SessionTimes {
  return {
    lastUsedAt: now,
    accessExpiresAt: now + lifetimes.accessTtlSeconds * 1000,
    refreshExpiresAt: now + lifetimes.refreshTtlSeconds * 1000,
  }
}

async function makeTokens(
  { keys }: Identity,
  sessionId: number,
  refreshToken: string,
  times: SessionTimes,
): Promise<Tokens> {
  const accessExpire = Math.floor(times.accessExpiresAt / 1000)
  return {
    accessToken: await signAccessToken(keys, { sessionId, expiresAtSeconds: accessExpire }),
    accessExpire,
    refreshToken,
    refreshExpire: Math.floor(times.refreshExpiresAt / 1000),
  }
}
