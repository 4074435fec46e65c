/** Logging in at identity providers: real ones on both stores, then ones that are broken or lie. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import t, { type Test } from 'tap'
import { createBrowser, startServer, type Page } from '../../support/identity-provider.js'
import { startPostgres } from '../../support/postgres.js'
import { eventually } from '../../support/eventually.js'
import {
  oidcContract,
  oidcRules,
  startOidcTown,
  clientSecret,
  type OidcTown,
} from './oidc.contract.js'
import { idOf, rows, startTown, type Json } from './people.js'

void t.test('on SQLite', (t) => {
  const store = { storeUrl: () => Promise.resolve('sqlite::memory:') }
  oidcContract(t, store)
  oidcRules(t, store)
  t.end()
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  await t.test('logins', (t) => {
    oidcContract(t, { storeUrl: () => postgres.url() })
    t.end()
  })
})

/** Where a provider has sent the browser back to, with the browser. */
async function reachCallback({ oidc, provider }: OidcTown, person = 's-1') {
  provider.person = person
  const browser = createBrowser()
  const { url } = await browser.follow(`${oidc}/red`, `${oidc}/callback`)
  return { browser, url }
}

void t.test('the answer of a provider counts in the browser that began, once', async (t) => {
  const town = await startOidcTown(t)
  const { oidc, controller } = town
  const refuse = (page: Page, message: RegExp): void => {
    t.match(page, { status: 400, body: { errorKey: 'auth', errorMsg: message } })
  }

  const one = await reachCallback(town)
  const two = await reachCallback(town, 's-2')
  refuse(await createBrowser().open(one.url), /this browser began no login/)
  refuse(await two.browser.open(one.url), /another login/)

  const changed = new URL(one.url)
  changed.searchParams.set('state', 'x'.repeat(43))
  refuse(await one.browser.open(changed), /another login/)
  changed.searchParams.delete('state')
  refuse(await one.browser.open(changed), /another login/)
  const twice = new URL(one.url)
  twice.searchParams.append('state', one.url.searchParams.get('state') ?? '')
  refuse(await one.browser.open(twice), /another login/)

  const [[place, pairs] = ['', new Map<string, string>()]] = one.browser.cookies
  t.equal(place, oidc, 'the cookie is for these paths only')
  const [cookie = ''] = pairs.values()
  const broken = { cookie: `cachefleet_oidc=${cookie.slice(0, -4)}AAAA` }
  refuse(await createBrowser().open(one.url, broken), /too long ago/)

  const kept = { cookie: `cachefleet_oidc=${cookie}` }
  t.equal((await one.browser.open(one.url)).status, 200)
  refuse(await one.browser.open(one.url), /began no login/)
  refuse(await createBrowser().open(one.url, kept), /finished before/)

  await eventually('a failed login is in the api log, though it is a GET', async () =>
    rows(await town.system.call(200, 'GET', '/apilogs?path=*callback')).some(
      ({ status, method, severity }) => status === 400 && method === 'GET' && severity === 2,
    ),
  )
  controller.advance(601_000)
  refuse(await two.browser.open(two.url), /too long ago/)
})

void t.test('iss, code and PKCE of another login do not fit', async (t) => {
  const town = await startOidcTown(t)
  const one = await reachCallback(town)
  const two = await reachCallback(town, 's-2')
  const three = await reachCallback(town, 's-3')

  for (const [{ browser, url }, name, value] of [
    [one, 'code', two.url.searchParams.get('code') ?? ''],
    [two, 'iss', 'https://other.example'],
    [three, 'code', 'made up'],
  ] as const) {
    url.searchParams.set(name, value)
    t.match(await browser.open(url), { status: 400, body: { errorMsg: /not confirmed/ } }, name)
  }
  const four = await reachCallback(town)
  four.url.searchParams.delete('iss')
  t.match(await four.browser.open(four.url), { status: 400 }, 'this provider tells its iss')
})

void t.test('who is refused at the provider, or by a wrong secret, is refused here', async (t) => {
  const { logIn, system, idp } = await startOidcTown(t)
  t.match(await logIn(null), { status: 401, body: { errorMsg: /access_denied/ } })
  await system.call(200, 'PUT', `/idps/${idOf(idp)}`, { clientSecret: 'not the secret' })
  t.match(await logIn('s-1'), { status: 400, body: { errorMsg: /not confirmed/ } })
  await system.call(200, 'PUT', `/idps/${idOf(idp)}`, { clientSecret })
  t.equal((await logIn('s-1')).status, 200)
})

void t.test('settings that change during a login end it', async (t) => {
  const town = await startOidcTown(t)
  const { browser, url } = await reachCallback(town)
  await town.system.call(200, 'PUT', `/idps/${idOf(town.idp)}`, { scopes: ['email'] })
  t.match(await browser.open(url), { status: 400, body: { errorMsg: /changed meanwhile/ } })
})

void t.test('after many refused answers an address waits', async (t) => {
  const { controller } = await startTown(t)
  const codes = Array.from({ length: 50 }, (_, at) => `code-${at}`)
  const exchange = (code: string) =>
    controller.call('POST', '/api/v1/auth/oidc/token', { body: { code } })

  for (const code of codes) t.equal((await exchange(code)).status, 400)

  const { status, headers } = await exchange('one more')
  t.equal(status, 429)
  t.ok(Number(headers.get('retry-after')) > 0)
  t.equal((await controller.call('GET', '/api/v1/auth/oidc/callback?state=x')).status, 429)
})

void t.test('a login ends on this machine or on a page of this service', async (t) => {
  const { oidc, controller } = await startOidcTown(t)
  const open = (target: string): Promise<Page> =>
    createBrowser().open(`${oidc}/red?return=${encodeURIComponent(target)}`)

  for (const target of [
    'http://127.0.0.1:1234/x',
    'http://127.8.9.1/',
    'http://localhost:1/a?b=c#d',
    'http://[::1]:99/',
    'https://127.0.0.1/',
    `${controller.base}/page`,
    '/page#part',
  ])
    t.match(await open(target), { status: 302 }, target)
  for (const target of [
    'https://evil.example/',
    '//evil.example/x',
    '/\\evil.example',
    'http://127.0.0.1.evil.example/',
    'http://127.0.0.1@evil.example/',
    'http://user@127.0.0.1/',
    'http://localhost.evil.example/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'ftp://127.0.0.1/',
    'http://169.254.169.254/',
    'page',
    '',
    `http://127.0.0.1/${'x'.repeat(1000)}`,
  ])
    t.match(
      await open(target),
      { status: 400, body: { errorKey: 'auth', errorMsg: /^return: / } },
      target,
    )
  t.match(await createBrowser().open(`${oidc}/red?bogus=1`), { status: 400 })
})

void t.test('the browser is sent with what binds its answer, and nothing else', async (t) => {
  const { oidc, provider } = await startOidcTown(t)
  const page = await createBrowser().open(`${oidc}/red`)

  const location = new URL(page.headers.get('location') ?? '')
  t.equal(location.origin, provider.issuer)
  t.match(Object.fromEntries(location.searchParams), {
    response_type: 'code',
    client_id: 'fleet',
    redirect_uri: `${oidc}/callback`,
    scope: 'openid profile email roles',
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
  })
  const [cookie = '', ...others] = page.headers.getSetCookie()
  t.same(others, [])
  t.match(
    cookie,
    /^cachefleet_oidc=v1\.[\w-]+; Path=\/api\/v1\/auth\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/,
  )
  for (const name of ['nobody', 'Red', 'red%00', '%2e'])
    t.equal((await createBrowser().open(`${oidc}/${name}`)).status, 404, name)
  t.equal((await createBrowser().open(`${oidc}/token`)).status, 405)
})

void t.test("a browser without a return address gets the page's cookie and the page", async (t) => {
  const town = await startOidcTown(t)
  town.provider.person = 's-1'
  const browser = createBrowser('text/html,application/xhtml+xml,*/*;q=0.8')
  const { url } = await browser.follow(`${town.oidc}/red`, `${town.oidc}/callback`)

  const { status, headers } = await browser.open(url)

  t.equal(status, 303)
  t.equal(headers.get('location'), '/')
  const [over, kept] = headers.getSetCookie()
  t.match(over, /^cachefleet_oidc=; .*Max-Age=0$/)
  t.match(
    kept,
    /^cachefleet_refresh=\d+\.[\w-]+\.[\w-]+; Path=\/api\/v1\/auth; HttpOnly; SameSite=Strict/,
  )
  const [pair = ''] = (kept ?? '').split(';')
  const refreshed = await town.controller.call('POST', '/api/v1/auth/refresh', {
    headers: { cookie: pair },
  })
  t.equal(refreshed.status, 200)
})

/** A provider that is not what it should be. */
interface Rogue {
  readonly base: string
  readonly asked: string[]
  /** By path: what is answered. Status and body, a redirect, or silence for ever. */
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

async function startRogueTown(t: Test) {
  const rogue = await startRogue(t)
  const town = await startTown(t)
  const red = await town.makeOrganization('red')
  const idp = await town.system.call(201, 'POST', '/idps', {
    ...{ baseURL: rogue.base, clientID: 'fleet', clientSecret, organization: { id: red } },
  })
  const at = `${town.controller.base}/api/v1/auth/oidc`
  /** Begins, and comes back with a code; `prepare` is told the nonce. */
  const come = async (prepare: (nonce: string) => Promise<void>): Promise<Page> => {
    const browser = createBrowser()
    const { headers } = await browser.open(`${at}/red`)
    const asked = new URL(headers.get('location') ?? '').searchParams
    await prepare(asked.get('nonce') ?? '')
    return browser.open(`${at}/callback?code=abc&state=${asked.get('state') ?? ''}`)
  }
  return { rogue, town, idp, come, begin: () => createBrowser().open(`${at}/red`) }
}

void t.test(
  'Network: OIDC redirects: none is followed, and a provider that cannot be used is 503',
  async (t) => {
    const { rogue, begin, come, town, idp } = await startRogueTown(t)
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
    t.equal((await begin()).status, 302, 'what failed is asked again')

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
    await town.system.call(200, 'PUT', at, { baseURL: 'http://127.0.0.1:9', clientSecret })
    t.equal((await begin()).status, 503, 'nobody is there')
    t.notOk(JSON.stringify(town.controller.lines).includes(clientSecret))
  },
)

void t.test('an ID token that is not whole lets nobody in', async (t) => {
  const { rogue, come } = await startRogueTown(t)
  const own = await generateKeyPair('ES256')
  const other = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }
  rogue.answers.set('/jwks', { status: 200, body: { keys: [jwk] } })
  const seconds = Math.floor(Date.now() / 1000)
  const tell =
    (changes: Json, key: CryptoKey = own.privateKey) =>
    async (nonce: string): Promise<void> => {
      const claims = {
        ...{ iss: rogue.base, aud: 'fleet', sub: 's-1', nonce },
        ...{ iat: seconds, exp: seconds + 60, preferred_username: 'berta' },
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
  ])
    t.match(await come(tell(changes)), { status: 400 }, JSON.stringify(changes))
  t.match(await come(tell({}, other.privateKey)), { status: 400 }, 'signed by somebody else')

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
