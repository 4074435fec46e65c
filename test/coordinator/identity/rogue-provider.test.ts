/** Logins at identity providers that are broken or lie. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import t, { type Test } from 'tap'
import { createBrowser, startServer, type Page } from '../../support/identity-provider.js'
import { clientSecret } from './oidc.contract.js'
import { idOf, startTenants, type Json } from './people.js'

/** A provider that misbehaves. */
interface Rogue {
  readonly base: string
  readonly asked: string[]
  /** Answers by path: status and body, a redirect, or no answer at all. */
  readonly answers: Map<string, { status: number; body?: unknown; location?: string } | 'silence'>
}

async function startRogue(t: Test): Promise<Rogue> {
  const rogue: Rogue = { base: '', asked: [], answers: new Map() }
  const { base } = await startServer(t, (request, response) => {
    const path = request.url ?? ''
    rogue.asked.push(path)
    const answer = rogue.answers.get(path) ?? { status: 404, body: {} }
    if (answer === 'silence') return
    const { status, body, location } = answer
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(location === undefined ? {} : { location }),
    })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const described = {
    issuer: base,
    authorization_endpoint: `${base}/auth`,
    token_endpoint: `${base}/token`,
    jwks_uri: `${base}/jwks`,
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['ES256'],
  }
  rogue.answers.set('/.well-known/openid-configuration', { status: 200, body: described })
  return Object.assign(rogue, { base })
}

async function startRogueTenants(t: Test) {
  const rogue = await startRogue(t)
  const tenants = await startTenants(t)
  const red = await tenants.makeOrganization('red')
  const idp = await tenants.system.call(201, 'POST', '/idps', {
    baseURL: rogue.base,
    clientID: 'fleet',
    clientSecret,
    organization: { id: red },
  })
  const at = `${tenants.controller.base}/api/v1/auth/oidc`
  /** Begins a login and comes back with a code; `prepare` is given the nonce. */
  const come = async (prepare: (nonce: string) => Promise<void>): Promise<Page> => {
    const browser = createBrowser()
    const { headers } = await browser.open(`${at}/red`)
    const asked = new URL(headers.get('location') ?? '').searchParams
    await prepare(asked.get('nonce') ?? '')
    return browser.open(`${at}/callback?code=abc&state=${asked.get('state') ?? ''}`)
  }
  return { rogue, tenants, idp, come, begin: () => createBrowser().open(`${at}/red`) }
}

void t.test(
  'Network: OIDC redirects: none is followed, and a provider that cannot be used is 503',
  async (t) => {
    const { rogue, begin, come, tenants, idp } = await startRogueTenants(t)
    const path = '/.well-known/openid-configuration'
    const right = rogue.answers.get(path) ?? 'silence'
    const described = typeof right === 'string' ? {} : right.body
    const elsewhere = { status: 302, location: '/elsewhere' }
    const wrong: [string, Parameters<Rogue['answers']['set']>[1]][] = [
      ['a redirect', elsewhere],
      ['an error', { status: 500, body: {} }],
      ['no JSON', { status: 200, body: '<html>' }],
      [
        'too much',
        { status: 200, body: JSON.stringify({ ...Object(described), x: 'x'.repeat(2 << 20) }) },
      ],
      [
        'another issuer',
        { status: 200, body: { ...Object(described), issuer: 'https://other.example' } },
      ],
      [
        'a bad endpoint',
        { status: 200, body: { ...Object(described), authorization_endpoint: 'javascript:x' } },
      ],
      ['no endpoint', { status: 200, body: { issuer: rogue.base } }],
      ['silence', 'silence'],
    ]
    for (const [name, answer] of wrong) {
      rogue.answers.set(path, answer)
      t.match(
        await begin(),
        { status: 503, body: { errorKey: 'auth', errorMsg: /cannot be used/ } },
        name,
      )
    }
    rogue.answers.set(path, right)
    t.equal((await begin()).status, 302, 'a failed discovery is retried')

    for (const answer of [elsewhere, { status: 503, body: {} }, { status: 200, body: 'x' }]) {
      rogue.answers.set('/token', answer)
      t.match(await come(() => Promise.resolve()), { status: 503 }, JSON.stringify(answer))
    }
    rogue.answers.set('/token', { status: 400, body: { error: 'invalid_grant' } })
    t.match(await come(() => Promise.resolve()), {
      status: 400,
      body: { errorMsg: /invalid_grant/ },
    })
    t.notOk(rogue.asked.includes('/elsewhere'))

    const at = `/idps/${idOf(idp)}`
    await tenants.system.call(200, 'PUT', at, { baseURL: 'http://127.0.0.1:9', clientSecret })
    t.equal((await begin()).status, 503, 'nothing listens there')
    t.notOk(JSON.stringify(tenants.controller.lines).includes(clientSecret))
  },
)

void t.test('an invalid ID token is refused', async (t) => {
  const { rogue, come } = await startRogueTenants(t)
  const own = await generateKeyPair('ES256')
  const other = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }
  rogue.answers.set('/jwks', { status: 200, body: { keys: [jwk] } })
  const seconds = Math.floor(Date.now() / 1000)
  const tell =
    (changes: Json, key: CryptoKey = own.privateKey) =>
    async (nonce: string): Promise<void> => {
      const claims = {
        iss: rogue.base,
        aud: 'fleet',
        sub: 's-1',
        nonce,
        iat: seconds,
        exp: seconds + 60,
        preferred_username: 'berta',
      }
      const idToken = await new SignJWT({ ...claims, ...changes })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .sign(key)
      const body = { access_token: 'a', token_type: 'Bearer', id_token: idToken }
      rogue.answers.set('/token', { status: 200, body })
    }

  t.equal((await come(tell({}))).status, 200)
  for (const changes of [
    { nonce: 'another' },
    { nonce: undefined },
    { aud: 'another' },
    { aud: ['fleet', 'another'], azp: 'another' },
    { iss: 'https://other.example' },
    { exp: seconds - 60 },
    { sub: undefined },
    { sub: '' },
  ])
    t.match(await come(tell(changes)), { status: 400 }, JSON.stringify(changes))
  t.match(await come(tell({}, other.privateKey)), { status: 400 }, 'signed with another key')

  const unsigned = (nonce: string): Promise<void> => {
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = {
      iss: rogue.base,
      aud: 'fleet',
      sub: 's-1',
      nonce,
      iat: seconds,
      exp: seconds + 60,
    }
    const idToken = `${encode({ alg: 'none' })}.${encode(claims)}.`
    const body = { access_token: 'a', token_type: 'Bearer', id_token: idToken }
    rogue.answers.set('/token', { status: 200, body })
    return Promise.resolve()
  }
  t.match(await come(unsigned), { status: 400 }, 'alg none')
  rogue.answers.set('/token', { status: 200, body: { access_token: 'a', token_type: 'Bearer' } })
  t.match(await come(() => Promise.resolve()), { status: 400 }, 'no ID token')
})
