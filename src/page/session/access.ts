/**
 * The access token: kept in memory only, renewed with a cookie that scripts cannot read (docs/behaviour.md, Page). All tabs
 * share the cookie, which can be used once: they renew it one after the other and share the result.
 */
import { signal } from '@preact/signals'
import { readOutcome, sendOnce, type CallError } from '../api/http.js'
import type { Whoami } from '../../resources/session.js'
import { notifyTabs, type Access, type Session } from './tabs.js'
import { withTabLock } from './tab-lock.js'

/** `starting`: it is not yet known whether the cookie is valid. */
export const session = signal<Session | 'starting' | null>('starting')
/** Error of the last attempt to resume the session; null: none. */
export const startError = signal<CallError | null>(null)
/** Why the session ended; empty: nothing to show. */
export const endedBecause = signal('')

interface Tokens {
  readonly accessToken: string
  readonly accessExpire: number
}

/** Set if a cookie may exist: a first-time visitor then causes no failing call. Not a secret. */
const rememberedKey = 'cachefleet.session'
/** Fraction of the token's lifetime after which it is renewed. */
const renewAfter = 0.75
const retryMs = 5_000
/** Limits of a request that hangs, which would otherwise block the logout. An abandoned renewal may cost the session: it gets longer. */
const renewTimeoutMs = 30_000
const logoutTimeoutMs = 10_000
/** Upper limit of a browser timer. */
const longestTimerMs = 2_147_483_647

let timer: ReturnType<typeof setTimeout> | undefined
let renewing: Promise<string | null> | undefined
/** Number of sessions that have ended: a renewal whose session has ended meanwhile must not resume it. */
let endedSessions = 0

export function readAccessToken(): string | null {
  return typeof session.value === 'object' ? (session.value?.access.token ?? null) : null
}

/** Resumes the session of the cookie, if there is one. */
export async function startSession(): Promise<void> {
  if (localStorage.getItem(rememberedKey) === null) session.value = null
  else await renewAccess(null)
}

/** Adopts the session of another tab, or its logout (null). */
export function adoptTabSession(next: Session | null): void {
  if (next) begin(next)
  else end('')
}

export function rememberSession(): void {
  localStorage.setItem(rememberedKey, 'yes')
}

/** Returns null on success. */
export async function logIn(credentials: {
  readonly name: string
  readonly password: string
  readonly organization: string
}): Promise<CallError | null> {
  const { name, password, organization } = credentials
  const words = new TextEncoder().encode(`${name}:${password}`)
  const answer = await sendOnce('POST', '/auth/login', {
    token: null,
    headers: { authorization: `Basic ${btoa(String.fromCharCode(...words))}` },
    body: { cookie: true, ...(organization === '' ? {} : { org: organization }) },
  })
  if (!(answer instanceof Response)) return answer
  return adopt(answer, endedSessions)
}

export async function logOut(): Promise<void> {
  // A renewal that is in progress, or starts now, would resume the session after the logout.
  await renewing
  clearTimeout(timer)
  const isEnded = await endSession()
  end(isEnded ? '' : sessionMayStay)
  notifyTabs(null)
}

const sessionMayStay =
  'You are logged out here. The coordinator could not be reached: the session ends by itself when unused.'

/** Returns true if the session has ended. */
async function endSession(): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const token = readAccessToken()
    const answer = await sendOnce('POST', '/auth/logout', {
      token,
      signal: AbortSignal.timeout(logoutTimeoutMs),
    })
    if (!(answer instanceof Response)) return false
    // A call with an expired token ends nothing: the session still has its cookie.
    if (answer.status !== 401) return answer.ok
    if (attempt === 2 || (await renewAccess(token)) === null) return session.peek() === null
  }
}

/** Returns a token other than `stale`, or null if none is available now. One renewal at a time. */
export function renewAccess(stale: string | null): Promise<string | null> {
  renewing ??= withTabLock(() => renewLocked(stale)).finally(() => {
    renewing = undefined
  })
  return renewing
}

async function renewLocked(stale: string | null): Promise<string | null> {
  // Another tab may have renewed the token while this one waited for the lock.
  const current = readAccessToken()
  if (current !== stale) return current
  const endedBefore = endedSessions
  // `keepalive`: leaving the page now would lose the answer and with it the only valid cookie.
  const answer = await sendOnce('POST', '/auth/refresh', {
    token: null,
    keepalive: true,
    signal: AbortSignal.timeout(renewTimeoutMs),
  })
  const error = answer instanceof Response ? await adopt(answer, endedBefore) : answer
  if (endedSessions !== endedBefore) return null
  startError.value = error
  if (error === null) return readAccessToken()
  if (error.status === 401 || error.status === 403)
    end(current === null ? '' : 'Your session ended. Log in again to go on.')
  else schedule(retryMs)
  return null
}

async function adopt(answer: Response, endedBefore: number): Promise<CallError | null> {
  const tokens = await readOutcome<Tokens>(answer)
  if (!tokens.ok) return tokens.error
  const { accessToken: token, accessExpire } = tokens.value
  // Computed with the coordinator's clock, since the browser's may be wrong.
  const now = Date.parse(answer.headers.get('date') ?? '') || Date.now()
  const access = { token, lifetimeMs: Math.max(1_000, accessExpire * 1000 - now) }
  const asked = await sendOnce('GET', '/auth/whoami', {
    token,
    signal: AbortSignal.timeout(renewTimeoutMs),
  })
  if (!(asked instanceof Response)) return asked
  const who = await readOutcome<Whoami>(asked)
  if (!who.ok) return who.error
  if (endedSessions !== endedBefore) return null
  begin({ access, who: who.value })
  notifyTabs({ access, who: who.value })
  return null
}

function begin(next: Session): void {
  rememberSession()
  endedBecause.value = ''
  session.value = next
  schedule(lengthOf(next.access))
}

function end(because: string): void {
  endedSessions += 1
  clearTimeout(timer)
  localStorage.removeItem(rememberedKey)
  endedBecause.value = because
  session.value = null
}

function schedule(afterMs: number): void {
  clearTimeout(timer)
  timer = setTimeout(
    () => void renewAccess(readAccessToken()), // handles its errors itself
    Math.min(afterMs, longestTimerMs),
  )
}

function lengthOf({ lifetimeMs }: Access): number {
  return lifetimeMs * renewAfter
}
