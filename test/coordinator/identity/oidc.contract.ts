/** Logins at a real identity provider, on any store (docs/behaviour.md, Identity providers). */
import type { Test } from 'tap'
import { permissionTypes } from '../../../src/resources/permission.js'
import {
  createBrowser,
  startIdentityProvider,
  type Browser,
  type IdentityProvider,
  type Page,
} from '../../support/identity-provider.js'
import { idOf, rows, startTenants, type Json, type Tenants } from './people.js'

export const clientSecret = 'the secret of the client'

export interface OidcTenants extends Tenants {
  readonly provider: IdentityProvider
  readonly red: number
  readonly idp: Json
  /** `http://127.0.0.1:<port>/api/v1/auth/oidc`. */
  readonly oidc: string
  /** Logs in with a fresh browser, from the first click to the answer with tokens. */
  readonly logIn: (person: string | null, organization?: string) => Promise<Page>
  readonly whoami: (page: Page) => Promise<Json>
}

/** An organization `red` with the provider, and its administrator `anna`. */
export async function startOidcTenants(
  t: Test,
  storeUrl?: string,
  fields: Json = {},
): Promise<OidcTenants> {
  const tenants = await startTenants(t, storeUrl === undefined ? {} : { storeUrl })
  const oidc = `${tenants.controller.base}/api/v1/auth/oidc`
  const provider = await startIdentityProvider(t, {
    clients: [
      {
        client_id: 'fleet',
        client_secret: clientSecret,
        redirect_uris: [`${oidc}/callback`],
      },
    ],
  })
  const red = await tenants.makeOrganization('red')
  await tenants.addPerson('anna', 'red')
  const idp = await tenants.system.call(201, 'POST', '/idps', {
    baseURL: provider.issuer,
    clientID: 'fleet',
    clientSecret,
    scopes: ['profile', 'email', 'roles'],
    organization: { id: red },
    ...fields,
  })
  return Object.assign(tenants, {
    provider,
    red,
    idp,
    oidc,
    logIn: (person: string | null, organization = 'red') => {
      provider.person = person
      return createBrowser().follow(`${oidc}/${organization}`)
    },
    whoami: ({ body }: Page) => tenants.as(String(body['accessToken']))(200, 'GET', '/auth/whoami'),
  })
}

interface OidcOptions {
  readonly storeUrl: () => Promise<string>
}

export function oidcContract(t: Test, { storeUrl }: OidcOptions): void {
  const start = async (t: Test, fields?: Json): Promise<OidcTenants> =>
    startOidcTenants(t, await storeUrl(), fields)

  void t.test('the first login creates an account without rights; the next finds it', async (t) => {
    const { provider, logIn, whoami, system } = await start(t)
    provider.claims.set('s-1', { preferred_username: 'berta', email: 'berta@example.com' })

    const first = await logIn('s-1')
    t.equal(first.status, 200)
    const { session, ...who } = await whoami(first)
    t.match(who, {
      account: { name: 'berta' },
      organization: { name: 'red' },
      role: 'regular',
      permissions: [],
    })
    provider.claims.set('s-1', { preferred_username: 'another name' })
    const again = await whoami(await logIn('s-1'))
    t.match(again, who, 'keyed by the subject, not the name')
    t.notSame(again['session'], session)

    const [account] = rows(await system.call(200, 'GET', '/accounts?name=berta'))
    t.match(account, { email: 'berta@example.com', organizations: [{ name: 'red' }] })
    t.notMatch(await whoami(await logIn('s-2')), { account: { id: idOf(account) } })
  })

  void t.test('an existing account of that name stays a separate account', async (t) => {
    const { provider, logIn, whoami } = await start(t)
    for (const subject of ['s-1', 's-2', 's-3'])
      provider.claims.set(subject, { preferred_username: 'anna' })
    provider.claims.set('s:4', { preferred_username: 'a:b' })

    const names: unknown[] = []
    for (const subject of ['s-1', 's-2', 's-3', 's:4']) {
      const { account, role } = (await whoami(await logIn(subject))) as {
        account: Json
        role: string
      }
      names.push(account['name'])
      t.equal(role, 'regular')
    }
    t.same(names.slice(0, 3), ['anna@red', 'anna-2@red', 'anna-3@red'])
    t.match(names[3], /^user-[0-9a-f]{12}$/, 'an invalid name is replaced')
  })

  void t.test('with a role claim the provider sets the rights at each login', async (t) => {
    const { provider, logIn, whoami, system, idp } = await start(t, { roleClaim: 'nested.roles' })
    const at = async (roles: unknown): Promise<Json> => {
      provider.claims.set('s-1', { preferred_username: 'berta', nested: { roles } })
      return whoami(await logIn('s-1'))
    }
    const writes = { type: 'file', read: true, write: true }
    const reads = { type: 'tag', read: true, write: false }

    t.match(await at(['tag:read', 'file:write', 'file:read', 'bogus:read', 'x', 7, 'tag:read:y']), {
      role: 'regular',
      permissions: [writes, reads],
    })
    const { role, permissions } = await at('administrator')
    t.equal(role, 'administrator')
    t.ok(Array.isArray(permissions) && permissions.length === permissionTypes.length)
    t.match(await at(['regular']), { role: 'regular', permissions: [] })
    t.match(await at(['file:read']), { permissions: [{ type: 'file', write: false }] })
    t.same((await at(undefined))['permissions'], [], 'unclaimed rights are revoked')

    await at(['administrator'])
    const [anna] = rows(await system.call(200, 'GET', '/accounts?name=anna'))
    await system.call(204, 'DELETE', `/accounts/${idOf(anna)}`)
    t.match(await at([]), { role: 'administrator' }, 'the last administrator stays administrator')

    await system.call(200, 'PUT', `/idps/${idOf(idp)}`, { roleClaim: null })
    t.match(await at(['tag:read']), { role: 'administrator' }, 'nothing is mapped any more')
  })

  void t.test('a return address gets a code that is valid once, for 60 s', async (t) => {
    const { provider, oidc, controller, whoami } = await start(t)
    provider.person = 's-1'
    const target = 'http://127.0.0.1:9/done?kept=1'
    const codeOf = async (browser: Browser): Promise<string> => {
      const url = `${oidc}/red?return=${encodeURIComponent(target)}`
      const page = await browser.follow(url, 'http://127.0.0.1:9/')
      t.equal(page.status, 303)
      t.equal(page.headers.get('referrer-policy'), 'no-referrer')
      t.match(page.url.href, /^http:\/\/127\.0\.0\.1:9\/done\?kept=1&code=[\w-]{32}$/)
      return page.url.searchParams.get('code') ?? ''
    }
    const exchange = (code: string) =>
      controller.call('POST', '/api/v1/auth/oidc/token', { body: { code } })

    const code = await codeOf(createBrowser())
    const answers = await Promise.all([exchange(code), exchange(code), exchange(code)])
    t.same(answers.map(({ status }) => status).sort(), [200, 400, 400])
    const good = answers.find(({ status }) => status === 200)
    t.match(good?.body, { accessToken: /./, refreshToken: /./ })
    t.match(await whoami({ body: good?.body ?? {} } as Page), { organization: { name: 'red' } })

    const late = await codeOf(createBrowser())
    controller.advance(60_000)
    t.match((await exchange(late)).body, { errorKey: 'auth', errorMsg: /60 s/ })
    t.equal((await exchange('')).status, 400)
  })
}

/** Tests that need no second database. */
export function oidcRules(t: Test, { storeUrl }: OidcOptions): void {
  const start = async (t: Test, fields?: Json): Promise<OidcTenants> =>
    startOidcTenants(t, await storeUrl(), fields)

  void t.test('two organizations with one provider have two accounts', async (t) => {
    const { provider, logIn, whoami, system, idp, makeOrganization, addPerson } = await start(t)
    const blue = await makeOrganization('blue')
    await addPerson('olaf', 'blue')
    const { baseURL, clientID } = idp
    await system.call(201, 'POST', '/idps', {
      baseURL,
      clientID,
      clientSecret,
      organization: { id: blue },
    })
    provider.claims.set('s-1', { preferred_username: 'berta' })

    const red = await whoami(await logIn('s-1', 'red'))
    const other = await whoami(await logIn('s-1', 'blue'))

    t.match(red, { account: { name: 'berta' }, organization: { name: 'red' } })
    t.match(other, { account: { name: 'berta@blue' }, organization: { name: 'blue' } })
  })

  void t.test('locked, removed users and those of a locked organization are refused', async (t) => {
    const { provider, logIn, whoami, system, red } = await start(t)
    provider.claims.set('s-1', { preferred_username: 'berta' })
    const { account } = (await whoami(await logIn('s-1'))) as { account: Json }
    const id = idOf(account)
    const statusOf = async (): Promise<number> => (await logIn('s-1')).status

    await system.call(200, 'PUT', `/accounts/${id}`, { locked: true })
    t.equal(await statusOf(), 401)
    await system.call(200, 'PUT', `/accounts/${id}`, { locked: false })
    t.equal(await statusOf(), 200)
    await system.call(200, 'PUT', `/organizations/${red}/unassign`, { account: { id } })
    t.equal(await statusOf(), 401, 'the provider does not readmit an account that was unassigned')
    await system.call(200, 'PUT', `/organizations/${red}/assign`, { account: { id } })
    t.equal(await statusOf(), 200)
    await system.call(200, 'PUT', `/organizations/${red}`, { locked: true })
    t.equal(await statusOf(), 404)
    await system.call(200, 'PUT', `/organizations/${red}`, { locked: false })
    await system.call(204, 'DELETE', `/accounts/${id}`)
    t.match(await whoami(await logIn('s-1')), { account: { name: 'berta' }, permissions: [] })
  })

  void t.test('an account from a provider has no password: any password is 401', async (t) => {
    const { provider, logIn, login } = await start(t)
    provider.claims.set('s-1', { preferred_username: 'berta' })
    t.equal((await logIn('s-1')).status, 200)
    for (const word of ['', 'x', 'long enough a word'])
      t.equal((await login('berta', 'red', word)).status, 401)
  })
}
