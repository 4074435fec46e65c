/**
 * Sessions of the console's cookie, stored among the other sessions, so that whatever ends those ends these; their digest is that
 * of the cookie's secret, which no call for tokens accepts.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { credentialsChangedSubject } from '../../bus/subjects.js'
import type { Actor } from '../../../resources/permission.js'
import {
  deleteOldestLogins,
  findSession,
  insertSession,
  updateSession,
} from '../../identity/session-queries.js'
import { digestToken } from '../../identity/tokens.js'
import type { Identity } from '../../identity/identity.js'
import { endSession } from '../../identity/sessions.js'
import { findAccessOf } from './organization-access.js'
import { createReadCache } from '../../../runtime/bounded-cache.js'

export interface ConsoleSessions {
  /** Returns the cookie's value. */
  start(actor: Actor): Promise<string>
  /** Undefined: it is not a session, or it has ended. */
  recognize(cookie: string): Promise<Actor | undefined>
  end(actor: Actor): Promise<void>
  close(): void
}

/** docs/behaviour.md, Console: idle 30 min. */
const idleMs = 30 * 60 * 1000
/** The precision of the idle time. */
const prolongEveryMs = 60_000
/** As in authenticate.ts. */
const cachedMs = 4_000
const maxCached = 10_000
/** With more sessions the account's oldest one ends. */
const sessionsOfAccount = 1000
const cookiePattern = /^([1-9][0-9]{0,15})\.([A-Za-z0-9_-]{43})$/
const label = 'console'

export function createConsoleSessions({ service }: Identity): ConsoleSessions {
  const { store, now } = service
  const remembered = createReadCache<Actor | undefined>({
    most: maxCached,
    believedMs: cachedMs,
    now,
  })
  const subscription = service.bus.subscribe(credentialsChangedSubject, () => {
    remembered.clear()
  })
  return {
    start: async ({ accountId, organizationId }) => {
      const secret = randomBytes(32).toString('base64url')
      const id = await store.transaction(async (queries) => {
        const sessionId = await insertSession(queries, {
          accountId,
          organizationId,
          label,
          refreshDigest: digestToken(secret),
          createdAt: now(),
          lastUsedAt: now(),
          accessExpiresAt: 0,
          refreshExpiresAt: now() + idleMs,
        })
        await deleteOldestLogins(queries, { accountId, label }, sessionsOfAccount)
        return sessionId
      })
      return `${id}.${secret}`
    },
    recognize: (cookie) => remembered.read(cookie, () => findActor(cookie)),
    end: async ({ sessionId }) => {
      remembered.clear()
      await endSession(service, sessionId)
    },
    close: () => {
      subscription.close()
    },
  }

  async function findActor(cookie: string): Promise<Actor | undefined> {
    const [, id, secret] = cookiePattern.exec(cookie) ?? []
    if (id === undefined || secret === undefined) return undefined
    const session = await findSession(store.queries, Number(id))
    if (!session || session.refreshExpiresAt <= now() || session.account.locked) return undefined
    if (!isSame(session.refreshDigest, digestToken(secret))) return undefined
    const { accountId, organizationId, account } = session
    const actor = await findAccessOf(store.queries, { ...account, id: accountId }, organizationId)
    if (!actor) return undefined
    if (now() - session.lastUsedAt >= prolongEveryMs)
      await updateSession(store.queries, session.id, {
        lastUsedAt: now(),
        refreshExpiresAt: now() + idleMs,
      })
    return { ...actor, sessionId: session.id }
  }
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
