/** Logins at identity providers, on both stores: which answers are accepted, and where a login may end. */
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { createBrowser, type Page } from '../../support/identity-provider.js'
import { startPostgres } from '../../support/postgres.js'
import {
  oidcContract,
  oidcRules,
  startOidcTenants,
  clientSecret,
  type OidcTenants,
} from './oidc.contract.js'
import { idOf, rows, startTenants } from './people.js'

void t.test('on SQLite', (t) => {
  const store = { storeUrl: () => Promise.resolve('sqlite::memory:') }
  oidcContract(t, store)
  oidcRules(t, store)
  t.end()
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  await t.test('logins', (t) => {
    oidcContract(t, { storeUrl: () => postgres.storeUrl() })
    t.end()
  })
})

/** Returns the URL to which the provider redirected the browser, with the browser. */
async function reachCallback({ oidc, provider }: OidcTenants, person = 's-1') {
  provider.person = person
  const browser = createBrowser()
  const { url } = await browser.follow(`${oidc}/red`, `${oidc}/callback`)
  return { browser, url }
}

void t.test('a provider’s answer is accepted once, in the browser that began', async (t) => {
  const tenants = await startOidcTenants(t)
  const { oidc, controller } = tenants
  const refuse = (page: Page, message: RegExp): void => {
    t.match(page, { status: 400, body: { errorKey: 'auth', errorMsg: message } })
  }

  const one = await reachCallback(tenants)
  const two = await reachCallback(tenants, 's-2')
  refuse(await createBrowser().open(one.url), /this browser did not start a login/)
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
  refuse(await one.browser.open(one.url), /did not start a login/)
  refuse(await createBrowser().open(one.url, kept), /finished before/)

  await eventually('a failed login is in the api log, though it is a GET', async () =>
    rows(await tenants.system.call(200, 'GET', '/apilogs?path=*callback')).some(
      ({ status, method, severity }) => status === 400 && method === 'GET' && severity === 2,
    ),
  )
  controller.advance(601_000)
  refuse(await two.browser.open(two.url), /too long ago/)
})

void t.test('iss, code and PKCE of another login are refused', async (t) => {
  const tenants = await startOidcTenants(t)
  const one = await reachCallback(tenants)
  const two = await reachCallback(tenants, 's-2')
  const three = await reachCallback(tenants, 's-3')

  for (const [{ browser, url }, name, value] of [
    [one, 'code', two.url.searchParams.get('code') ?? ''],
    [two, 'iss', 'https://other.example'],
    [three, 'code', 'made up'],
  ] as const) {
    url.searchParams.set(name, value)
    t.match(await browser.open(url), { status: 400, body: { errorMsg: /not confirmed/ } }, name)
  }
  const four = await reachCallback(tenants)
  four.url.searchParams.delete('iss')
  t.match(await four.browser.open(four.url), { status: 400 }, 'this provider sends its iss')
})

void t.test('a login refused by the provider or for a wrong secret is refused', async (t) => {
  const { logIn, system, idp } = await startOidcTenants(t)
  t.match(await logIn(null), { status: 401, body: { errorMsg: /access_denied/ } })
  await system.call(200, 'PUT', `/idps/${idOf(idp)}`, { clientSecret: 'not the secret' })
  t.match(await logIn('s-1'), { status: 400, body: { errorMsg: /not confirmed/ } })
  await system.call(200, 'PUT', `/idps/${idOf(idp)}`, { clientSecret })
  t.equal((await logIn('s-1')).status, 200)
})

void t.test('settings that change during a login end it', async (t) => {
  const tenants = await startOidcTenants(t)
  const { browser, url } = await reachCallback(tenants)
  await tenants.system.call(200, 'PUT', `/idps/${idOf(tenants.idp)}`, { scopes: ['email'] })
  t.match(await browser.open(url), { status: 400, body: { errorMsg: /changed meanwhile/ } })
})

void t.test('after many refused answers an address has to wait', async (t) => {
  const { controller } = await startTenants(t)
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
  const { oidc, controller } = await startOidcTenants(t)
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

void t.test('the redirect carries what binds the answer, and nothing else', async (t) => {
  const { oidc, provider } = await startOidcTenants(t)
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
  const tenants = await startOidcTenants(t)
  tenants.provider.person = 's-1'
  const browser = createBrowser('text/html,application/xhtml+xml,*/*;q=0.8')
  const { url } = await browser.follow(`${tenants.oidc}/red`, `${tenants.oidc}/callback`)

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
  const refreshed = await tenants.controller.call('POST', '/api/v1/auth/refresh', {
    headers: { cookie: pair },
  })
  t.equal(refreshed.status, 200)
})
