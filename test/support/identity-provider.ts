/** The real oidc-provider on loopback, and a browser that follows its redirects. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type Client } from 'oidc-provider'
import type { Test } from 'tap'

export interface IdentityProvider {
  readonly issuer: string
  /** The user at the keyboard: subject of the next login. Null: the user refuses. */
  person: string | null
  /** By subject. */
  readonly claims: Map<string, Readonly<Record<string, unknown>>>
  /** Such as `GET /token`, in order. */
  readonly calls: string[]
}

interface ProviderOptions {
  readonly clients: readonly Client[]
  /** False: the claims of a scope are in the ID token. */
  readonly claimsByUserInfo?: boolean
}

/** Stops with the test. */
export async function startIdentityProvider(
  t: Test,
  { clients, claimsByUserInfo = true }: ProviderOptions,
): Promise<IdentityProvider> {
  const { server, base } = await startServer(t, (request, response) => {
    handle(request, response)
  })
  const found: IdentityProvider = { issuer: base, person: null, claims: new Map(), calls: [] }
  const provider = new Provider(base, {
    clients,
    scopes: ['openid', 'profile', 'email', 'roles'],
    claims: {
      openid: ['sub'],
      profile: ['preferred_username'],
      email: ['email'],
      roles: ['roles', 'nested'],
    },
    cookies: { keys: ['a key of the test'] },
    conformIdTokenClaims: claimsByUserInfo,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      Grant: 60,
      IdToken: 60,
      Interaction: 60,
      Session: 60,
    },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...found.claims.get(id) }),
    }),
    renderError: (context, out) => {
      context.body = out
    },
  })
  const serve = provider.callback()
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    found.calls.push(`${request.method ?? ''} ${(request.url ?? '').split('?', 1)[0] ?? ''}`)
    if (request.url?.startsWith('/interaction/') !== true) serve(request, response)
    else
      void answerForm(provider, found.person, { request, response }).catch((error: unknown) => {
        response.writeHead(500).end(String(error))
      })
  }
  server.unref()
  return found
}

/** Acts like a user in the two forms: logs in, then agrees. */
async function answerForm(
  provider: Provider,
  person: string | null,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (person === null) {
    const refusal = { error: 'access_denied', error_description: 'not today' }
    await provider.interactionFinished(request, response, refusal)
  } else if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: person } })
  } else {
    const clientId = params['client_id'] ?? ''
    const grant = new provider.Grant({ accountId: session?.accountId ?? person, clientId })
    grant.addOIDCScope('openid profile email roles')
    const consent = { grantId: await grant.save() }
    await provider.interactionFinished(request, response, { consent })
  }
}

/** A server handled by the test. */
export async function startServer(
  t: Test,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly server: ReturnType<typeof createServer>; readonly base: string }> {
  const server = createServer(handle)
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  return { server, base: `http://127.0.0.1:${port}` }
}

export interface Page {
  readonly url: URL
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

export interface Browser {
  /** By origin and path, then by name. */
  readonly cookies: Map<string, Map<string, string>>
  /** One response, without following redirects. */
  open(url: string | URL, headers?: Readonly<Record<string, string>>): Promise<Page>
  /** Follows redirects until one leads to a URL starting with `stopsAt`, which is not opened, or until a response is no redirect. */
  follow(url: string | URL, stopsAt?: string): Promise<Page>
}

export function createBrowser(accept = 'application/json'): Browser {
  const cookies: Browser['cookies'] = new Map()
  const open: Browser['open'] = async (target, headers = {}) => {
    const url = new URL(target)
    const jar = [...cookies].filter(([place]) => `${url.origin}${url.pathname}`.startsWith(place))
    const shown = jar.flatMap(([, pairs]) => [...pairs].map(([name, value]) => `${name}=${value}`))
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { accept, ...(shown.length > 0 ? { cookie: shown.join('; ') } : {}), ...headers },
    })
    for (const line of answer.headers.getSetCookie()) keepCookie(cookies, url, line)
    const text = await answer.text()
    return { url, status: answer.status, headers: answer.headers, body: parse(text) }
  }
  return {
    cookies,
    open,
    follow: async (target, stopsAt) => {
      let page = await open(target)
      for (let step = 0; step < 20; step++) {
        const next = page.headers.get('location')
        if (next === null) return page
        const url = new URL(next, page.url)
        if (stopsAt !== undefined && url.href.startsWith(stopsAt)) return { ...page, url }
        page = await open(url)
      }
      throw new Error(`too many redirects, the last to ${page.url.href}`)
    },
  }
}

function keepCookie(cookies: Browser['cookies'], { origin }: URL, line: string): void {
  const [pair = '', ...flags] = line.split(';').map((part) => part.trim())
  const [name = '', value = ''] = pair.split('=')
  const path = flags.find((flag) => /^path=/i.test(flag))?.slice(5) ?? '/'
  const place = `${origin}${path}`
  const pairs = cookies.get(place) ?? new Map<string, string>()
  if (value === '' || flags.includes('Max-Age=0')) pairs.delete(name)
  else pairs.set(name, value)
  cookies.set(place, pairs)
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : { value }
  } catch {
    return { text }
  }
}
