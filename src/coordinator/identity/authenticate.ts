/** Access token → actor. Results are cached for some seconds, so that most calls need no query and no signature check. */
import { credentialsChangedSubject } from '../bus/subjects.js'
import type { Actor } from '../../resources/permission.js'
import { findSession, updateSession, type SessionRecord } from './session-queries.js'
import type { Queries } from '../store/store.js'
import { readGrantsOf } from './user-queries.js'
import type { Identity } from './identity.js'
import { isSessionValid, unauthenticated } from './sessions.js'
import { readAccessToken } from './tokens.js'
import { createReadCache } from '../../runtime/bounded-cache.js'

export interface Authenticator {
  /** Throws FleetError 'unauthenticated', or 'limited' after too many forged tokens from the address. */
  authenticate(token: string, sourceAddress: string): Promise<Actor>
  /** Also returns the token's expiry, for work that outlives the call. */
  recognize(token: string, sourceAddress: string): Promise<Recognized>
  close(): void
}

interface Recognized {
  readonly actor: Actor
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** docs/behaviour.md, Tokens: a revocation takes effect within 5 s, even if its notification is lost. */
const cachedMs = 4_000
/** Beyond this the least recently used tokens are evicted. */
const maxCached = 10_000
/** The precision of a session's `lastUsed`. */
const touchEveryMs = 60_000

export function createAuthenticator(identity: Identity): Authenticator {
  const { service } = identity
  const remembered = createReadCache<Recognized>({
    most: maxCached,
    believedMs: cachedMs,
    now: service.now,
    expiresAt: ({ expiresAtMs }) => expiresAtMs,
  })
  const subscription = service.bus.subscribe(credentialsChangedSubject, () => {
    remembered.clear()
  })
  return {
    recognize,
    authenticate: async (token, sourceAddress) => (await recognize(token, sourceAddress)).actor,
    close: () => {
      subscription.close()
    },
  }

  function recognize(token: string, sourceAddress: string): Promise<Recognized> {
    return remembered.read(token, () => findActor(identity, token, sourceAddress))
  }
}

async function findActor(
  { service, keys, limits }: Identity,
  token: string,
  sourceAddress: string,
): Promise<Recognized> {
  const { store, now } = service
  const reading = await readAccessToken(keys, token, now())
  if (reading.kind === 'expired')
    throw unauthenticated('the access token has expired; refresh it or log in again')
  if (reading.kind === 'forged') {
    limits.check(null, sourceAddress)
    limits.countFailure(null, sourceAddress)
    throw unauthenticated('the access token was not issued by this service')
  }
  const session = await findSession(store.queries, reading.token.sessionId)
  if (!session || !isSessionValid(session))
    throw unauthenticated('the session has ended; log in again')
  if (now() - session.lastUsedAt >= touchEveryMs)
    await updateSession(store.queries, session.id, { lastUsedAt: now() })
  return {
    actor: await readActor(store.queries, session),
    expiresAtMs: reading.token.expiresAtSeconds * 1000,
  }
}

/** The grants are read with the session, so a changed permission takes effect as soon as an ended session. */
async function readActor(queries: Queries, session: SessionRecord): Promise<Actor> {
  const [actor] = await readActors(queries, [session])
  if (!actor) throw new Error('one session has one actor')
  return actor
}

/** The actors of live sessions, in the same order, with one query. */
export async function readActors(
  queries: Queries,
  sessions: readonly SessionRecord[],
): Promise<Actor[]> {
  const regular = sessions.flatMap(({ accountId, organizationId, role }) =>
    organizationId !== null && role === 'regular' ? [{ organizationId, accountId }] : [],
  )
  const grants = (await readGrantsOf(queries, regular)).values()
  return sessions.map((session) => ({
    accountId: session.accountId,
    accountName: session.account.name,
    sessionId: session.id,
    organizationId: session.organizationId,
    role: session.role ?? 'system', // a live session without a role is the system administrator's
    grants:
      session.organizationId !== null && session.role === 'regular'
        ? (grants.next().value ?? {})
        : {},
    ...(session.limits && { limits: session.limits }),
  }))
}
