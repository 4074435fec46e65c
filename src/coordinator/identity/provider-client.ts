/**
 * The relying party of OpenID Connect's authorization code flow with PKCE (docs/behaviour.md, Identity providers). The only
 * user of the client library, which is loaded at the first login through a provider.
 */
import type * as OpenIdClient from 'openid-client'
import type { Configuration } from 'openid-client'
import type { Logger } from 'pino'
import { findClaim, type Claims } from './provider-claims.js'
import { FleetError } from '../../errors.js'
import type { IdpRecord } from './idp-queries.js'
import { findUrlProblem } from './provider-address.js'
import type { ResolveName } from '../http/judged-lookup.js'
import { createProviderFetch, ProviderFault } from './provider-http.js'
import { createReadCache } from '../../runtime/bounded-cache.js'

/** A provider with its opened client secret, for one login. */
export interface Provider extends Omit<IdpRecord, 'sealedClientSecret'> {
  readonly clientSecret: string | null
}

/** Binds the provider's callback to the login that was begun. */
export interface LoginChecks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface ProvenIdentity {
  readonly issuer: string
  readonly subject: string
  readonly claims: Claims
}

export interface ProviderClient {
  /** `url` is where the browser is sent. Throws FleetError 'unavailable'. */
  begin(
    provider: Provider,
    redirectUri: string,
    log: Logger,
  ): Promise<LoginChecks & { readonly url: string }>
  /** `callback`: the redirect URI with the provider's parameters. Throws FleetError 'invalid', 'unauthenticated', 'unavailable'. */
  finish(
    provider: Provider,
    callback: URL,
    checks: LoginChecks,
    log: Logger,
  ): Promise<ProvenIdentity>
}

type Library = typeof OpenIdClient

/** How long a provider's discovery document is cached. */
const discoveryCachedMs = 10 * 60 * 1000
/** Cached providers, some kilobytes each. Beyond this the least recently used ones are discovered again. */
const maxCached = 1000

export function createProviderClient(now: () => number, resolveName?: ResolveName): ProviderClient {
  const providerFetch = createProviderFetch(resolveName)
  const discovered = createReadCache<Configuration>({
    most: maxCached,
    believedMs: discoveryCachedMs,
    now,
  })
  let loaded: Promise<Library> | undefined
  const load = (): Promise<Library> => (loaded ??= import('openid-client'))

  const discover = (provider: Provider): Promise<Configuration> =>
    discovered.read(`${provider.id} ${provider.updatedAt}`, async () =>
      askProvider(await load(), provider, providerFetch),
    )

  const attempt = async <T>(fault: Fault, work: (library: Library) => Promise<T>): Promise<T> => {
    const library = await load()
    try {
      return await work(library)
    } catch (error) {
      throw describeFault(library, error, fault)
    }
  }

  return {
    begin: (provider, redirectUri, log) =>
      attempt({ provider, log, isAnswer: false }, async (library) =>
        beginLogin(library, await discover(provider), provider, redirectUri),
      ),
    finish: async (provider, callback, checks, log) => {
      const asking = { provider, log, isAnswer: false }
      const configuration = await attempt(asking, () => discover(provider))
      return attempt({ provider, log, isAnswer: true }, (library) =>
        finishLogin(library, configuration, { provider, callback, checks }),
      )
    },
  }
}

async function askProvider(
  library: Library,
  { baseUrl, clientId, clientSecret }: Provider,
  providerFetch: ReturnType<typeof createProviderFetch>,
): Promise<Configuration> {
  const server = new URL(baseUrl)
  const isPlain = server.protocol === 'http:' // loopback only, as checked when it was stored
  const configuration = await library.discovery(
    server,
    clientId,
    undefined,
    (as, client, body, headers) => {
      chooseAuthentication(library, clientSecret, as.token_endpoint_auth_methods_supported)(
        as,
        client,
        body,
        headers,
      )
    },
    {
      [library.customFetch]: providerFetch,
      execute: isPlain ? [allowPlainHttp(library)] : [],
    },
  )
  refuseEndpoints(configuration)
  // Also verifies the ID token's signature, because loopback has no TLS to rely on.
  library.enableNonRepudiationChecks(configuration)
  return configuration
}

/** The browser is sent to the authorization endpoint, the client secret to the token endpoint. */
function refuseEndpoints(configuration: Configuration): void {
  const { authorization_endpoint, token_endpoint } = configuration.serverMetadata()
  for (const endpoint of [authorization_endpoint, token_endpoint]) {
    if (endpoint === undefined || !URL.canParse(endpoint))
      throw new ProviderFault(
        'its discovery document lacks a valid authorization or token endpoint',
      )
    const problem = findUrlProblem(new URL(endpoint))
    if (problem !== null) throw new ProviderFault(`one of its endpoints: ${problem}`)
  }
}

/** The library deprecates it only to discourage its use; loopback cannot be called without it. */
function allowPlainHttp(library: Library): (configuration: Configuration) => void {
  return Reflect.get(library, 'allowInsecureRequests')
}

/** OpenID Connect Discovery: a provider that lists no methods supports client_secret_basic. */
function chooseAuthentication(
  library: Library,
  secret: string | null,
  supported: readonly string[] = ['client_secret_basic'],
): ReturnType<Library['None']> {
  if (secret === null) return library.None()
  return supported.includes('client_secret_basic') || !supported.includes('client_secret_post')
    ? library.ClientSecretBasic(secret)
    : library.ClientSecretPost(secret)
}

async function beginLogin(
  library: Library,
  configuration: Configuration,
  { scopes }: Provider,
  redirectUri: string,
): Promise<LoginChecks & { readonly url: string }> {
  const state = library.randomState()
  const nonce = library.randomNonce()
  const verifier = library.randomPKCECodeVerifier()
  const url = library.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: [...new Set(['openid', ...scopes])].join(' '),
    state,
    nonce,
    code_challenge: await library.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, state, nonce, verifier }
}

async function finishLogin(
  library: Library,
  configuration: Configuration,
  login: { readonly provider: Provider; readonly callback: URL; readonly checks: LoginChecks },
): Promise<ProvenIdentity> {
  const { provider, callback, checks } = login
  const tokens = await library.authorizationCodeGrant(configuration, callback, {
    expectedState: checks.state,
    expectedNonce: checks.nonce,
    pkceCodeVerifier: checks.verifier,
    idTokenExpected: true,
  })
  const proven = tokens.claims()
  if (!proven) throw new ProviderFault('it answers without an ID token')
  const { iss: issuer, sub: subject } = proven
  // All users with an empty subject would share one account; the library checks only that it is a string.
  if (subject === '') throw new Error('the ID token has an empty subject')
  const isWhole =
    'preferred_username' in proven &&
    (provider.roleClaim === '' || findClaim(proven, provider.roleClaim) !== undefined)
  const { userinfo_endpoint: endpoint } = configuration.serverMetadata()
  if (isWhole || endpoint === undefined) return { issuer, subject, claims: proven }
  const claims = await library.fetchUserInfo(configuration, tokens.access_token, subject)
  return { issuer, subject, claims: { ...claims, ...proven } }
}

interface Fault {
  readonly provider: Provider
  readonly log: Logger
  /** True for the step that verifies the browser's callback parameters, which may be forged. */
  readonly isAnswer: boolean
}

/** Error codes that are the provider's fault, not that of the callback parameters. */
const faultsOfProvider = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
])

/** Returns and logs only our own messages and the library's codes, because the library's errors hold tokens and responses. */
function describeFault(
  library: Library,
  error: unknown,
  { provider, log, isAnswer }: Fault,
): Error {
  const fault = findProviderFault(error)
  const code = readErrorProperty(error, 'code')
  const status: unknown = error instanceof Error ? Reflect.get(error, 'status') : undefined
  log.warn(
    { idp: provider.id, organization: provider.organization.name, code, status, fault },
    'a login by an identity provider failed',
  )
  if (error instanceof library.AuthorizationResponseError)
    return new FleetError(
      'unauthenticated',
      'auth',
      `the identity provider refused the login: ${printable(error.error)}`,
    )
  const isOfProvider =
    !isAnswer ||
    fault !== undefined ||
    faultsOfProvider.has(code ?? '') ||
    (typeof status === 'number' && status >= 500)
  if (isOfProvider)
    return new FleetError(
      'unavailable',
      'auth',
      'the identity provider cannot be used now; the log has the reason under the trace id',
    )
  const reason = error instanceof library.ResponseBodyError ? `: ${printable(error.error)}` : ''
  return new FleetError('invalid', 'auth', `the login was not confirmed by the provider${reason}`)
}

/** The library wraps what its transport throws. */
function findProviderFault(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    if (cause instanceof ProviderFault) return cause.message
    cause = cause.cause
  }
  return undefined
}

function readErrorProperty(error: unknown, key: string): string | undefined {
  const value: unknown = error instanceof Error ? Reflect.get(error, key) : undefined
  return typeof value === 'string' ? printable(value) : undefined
}

/** RFC 6749 5.2: error codes are printable ASCII; a provider may send anything. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)
}
