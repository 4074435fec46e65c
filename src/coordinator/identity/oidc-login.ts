/**
 * A login by an identity provider, from start to tokens (docs/behaviour.md, Identity providers). The state of a started login
 * is in a sealed cookie of the browser, so that starting one writes nothing to the store.
 *
 *   begin ──302──▶ provider ──302──▶ finish ──▶ tokens            (an answer as JSON, or the page's cookie)
 *                                           └─302──▶ return?code= ──▶ exchange ──▶ tokens
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import { insertLoginCode, takeLoginCode, useLoginState } from './idp-logins.js'
import { findIdpOfOrganization, idpReading, type IdpRecord } from './idp-queries.js'
import type { Membership } from './user-queries.js'
import type { Identity } from './identity.js'
import { admitIdentity, requireEntry } from './oidc-account.js'
import type { LoginChecks } from './provider-client.js'
import { openProvider } from './provider-secret.js'
import { parseReturnUrl } from './return-url.js'
import { startSession, type Tokens } from './sessions.js'
import { digestToken } from './tokens.js'

/** The time limit for the user's login at the provider. */
export const loginSeconds = 600
/** docs/behaviour.md, Identity providers. */
const codeMs = 60_000
const purpose = 'logins at identity providers'

/** Relative to the base URL. The full URL must be registered at the provider. */
const callbackPath = '/api/v1/auth/oidc/callback'

interface LoginStart {
  readonly organization: string
  /** Where the browser is redirected at the end; undefined: the callback responds with the tokens. */
  readonly returnTo: string | undefined
  /** `https://fleet.example.com`. */
  readonly baseUrl: string
}

/** The content of the cookie. */
interface Pending extends LoginChecks {
  readonly idpId: number
  /** Of the provider's settings. If they change, the user must start a new login. */
  readonly updatedAt: number
  readonly returnTo: string | null
  readonly expiresAt: number
}

/** Throws FleetError 'not-found' without a provider, 'invalid' for a bad `returnTo`, 'unavailable' if the provider fails. */
export async function beginLogin(
  { service, sealing, providers }: Identity,
  context: Context,
  { organization, returnTo, baseUrl }: LoginStart,
): Promise<{ readonly location: string; readonly cookie: string }> {
  const idp = organization.includes('\0')
    ? undefined
    : await findIdpOfOrganization(service.store.queries, organization)
  if (!idp)
    throw new FleetError(
      'not-found',
      'auth',
      'there is no organization of this name that logs in by an identity provider',
    )
  const target = returnTo === undefined ? null : parseReturnUrl(returnTo, baseUrl)
  const provider = await openProvider(sealing, idp)
  const { url, ...checks } = await providers.begin(provider, baseUrl + callbackPath, context.log)
  const pending: Pending = {
    ...checks,
    idpId: idp.id,
    updatedAt: idp.updatedAt,
    returnTo: target,
    expiresAt: service.now() + loginSeconds * 1000,
  }
  return { location: url, cookie: sealing.seal(JSON.stringify(pending), purpose) }
}

interface LoginAnswer {
  /** The query parameters that the provider added to the redirect URI. */
  readonly parameters: URLSearchParams
  readonly cookie: string | undefined
  readonly baseUrl: string
  readonly sourceAddress: string
  /** Called with the organization of the login as soon as it is known. */
  readonly note: (about: { readonly organization: number }) => void
}

type FinishedLogin =
  | { readonly kind: 'return'; readonly location: string }
  | { readonly kind: 'tokens'; readonly tokens: Tokens }

/** Throws FleetError 'invalid' or 'unauthenticated' for a refused login, 'limited' after too many of them, 'unavailable'. */
export async function finishLogin(
  identity: Identity,
  context: Context,
  answer: LoginAnswer,
): Promise<FinishedLogin> {
  const { sourceAddress } = answer
  return limited(identity, sourceAddress, async () => {
    const pending = await readPending(identity, answer)
    const idp = await claimLogin(identity, pending)
    answer.note({ organization: idp.organization.id })
    const callback = new URL(answer.baseUrl + callbackPath)
    callback.search = answer.parameters.toString()
    const provider = await openProvider(identity.sealing, idp)
    const proven = await identity.providers.finish(provider, callback, pending, context.log)
    const membership = await admitIdentity(identity.service, provider, proven)
    if (pending.returnTo === null)
      return { kind: 'tokens', tokens: await enter(identity, membership) }
    const location = new URL(pending.returnTo)
    location.searchParams.set('code', await makeCode(identity, membership))
    return { kind: 'return', location: location.href }
  })
}

/** Throws FleetError 'invalid' for an unknown, used or expired code, 'limited' after too many of them. */
export async function exchangeCode(
  identity: Identity,
  given: Pick<LoginAnswer, 'sourceAddress' | 'note'> & { readonly code: string },
): Promise<Tokens> {
  const { service } = identity
  const { code, sourceAddress, note } = given
  return limited(identity, sourceAddress, async () => {
    const membership = await takeLoginCode(service.store.queries, digestToken(code), service.now())
    if (!membership) throw refuse('the code is unknown, already used or older than 60 s')
    note({ organization: membership.organizationId })
    return enter(identity, membership)
  })
}

/** Checks the account again: it may have been locked or removed since the provider identified the user. */
async function enter(identity: Identity, membership: Membership): Promise<Tokens> {
  const { accountId, organizationId } = membership
  return startSession(identity, accountId, organizationId, async (queries) => {
    await requireEntry(queries, membership)
  })
}

/** Counts every refusal as a failed login from the source address. */
async function limited<T>(
  { limits }: Identity,
  sourceAddress: string,
  work: () => Promise<T>,
): Promise<T> {
  limits.check(null, sourceAddress)
  try {
    return await work()
  } catch (error) {
    const isRefusal =
      error instanceof FleetError && (error.kind === 'invalid' || error.kind === 'unauthenticated')
    if (isRefusal) limits.countFailure(null, sourceAddress)
    throw error
  }
}

/** Checks that this browser started the login and that the callback belongs to it. */
async function readPending(
  { service, sealing }: Identity,
  { cookie, parameters }: LoginAnswer,
): Promise<Pending> {
  if (cookie === undefined)
    throw refuse('this browser did not start a login here; start again at the same address')
  const pending = await unseal(sealing, cookie)
  if (!pending || pending.expiresAt <= service.now())
    throw refuse('the login was started too long ago; start again')
  const states = parameters.getAll('state')
  const isSame =
    states.length === 1 &&
    timingSafeEqual(
      Buffer.from(digestToken(states[0] ?? '')),
      Buffer.from(digestToken(pending.state)),
    )
  if (!isSame) throw refuse('this callback belongs to another login; start again')
  return pending
}

/** Undefined: this service did not seal the cookie. */
async function unseal(sealing: Identity['sealing'], cookie: string): Promise<Pending | undefined> {
  try {
    return JSON.parse(await sealing.open(cookie, purpose)) as Pending // sealed by beginLogin only
  } catch (error) {
    if (error instanceof FleetError) return undefined
    throw error
  }
}

/** Succeeds once per login, across all coordinators. Returns the provider of the login. */
async function claimLogin({ service }: Identity, pending: Pending): Promise<IdpRecord> {
  const { queries } = service.store
  const { expiresAt } = pending
  const times = { now: service.now(), expiresAt }
  if (!(await useLoginState(queries, digestToken(pending.state), times)))
    throw refuse('this login has been finished before; begin again')
  const idp = await idpReading.find(queries, { kind: 'all' }, pending.idpId)
  if (idp?.updatedAt !== pending.updatedAt)
    throw refuse('the identity provider was changed meanwhile; begin again')
  return idp
}

async function makeCode({ service }: Identity, membership: Membership): Promise<string> {
  const code = randomBytes(24).toString('base64url')
  const now = service.now()
  const times = { now, expiresAt: now + codeMs }
  await insertLoginCode(service.store.queries, digestToken(code), membership, times)
  return code
}

function refuse(message: string): FleetError {
  return new FleetError('invalid', 'auth', message)
}
