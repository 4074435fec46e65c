/**
 * The attacks on authentication and authorization that must be survived: one test for each line of the checklist, named after it. Objects
 * of other organizations (IDOR) and the agents' credentials have tests of their own.
 */
import t, { type Test } from 'tap'
import { permissionTypes } from '../../../src/resources/permission.js'
import { listApiLogs } from '../../support/api-logs.js'
import { everything } from '../../../src/resources/list-query.js'
import { basic, type CallAnswer } from '../../support/http-call.js'
import { administrator } from '../../support/start-controller.js'
import { idOf, password, startTenants, type Person, type Tenants } from './people.js'

interface Stage extends Tenants {
  readonly red: number
  readonly anna: Person
}

async function start(t: Test): Promise<Stage> {
  const tenants = await startTenants(t)
  const red = await tenants.makeOrganization('red')
  return { ...tenants, red, anna: await tenants.addPerson('anna', 'red') }
}

void t.test('Web/API: same answer time for unknown user and wrong password', async (t) => {
  const { controller, login, system, red } = await start(t)
  const { passwords } = controller.identity
  const verify = passwords.verify.bind(passwords)
  let verified = 0
  Object.assign(passwords, {
    verify: (...given: Parameters<typeof verify>) => {
      verified += 1
      return verify(...given)
    },
  })
  const attempts: Record<string, () => Promise<CallAnswer>> = {
    'an unknown name': () => login('nobody', 'red'),
    'an unknown name and organization': () => login('nobody', 'green'),
    'a wrong password': () => login('anna', 'red', 'not the right one'),
    'a wrong organization': () => login('anna', 'green'),
    'no organization': () => login('anna'),
    'a locked organization': async () => {
      await system.call(200, 'PUT', `/organizations/${red}`, { locked: true })
      return login('anna', 'red')
    },
  }
  for (const [name, attempt] of Object.entries(attempts)) {
    const before = verified
    const { status, body } = await attempt()
    t.equal(status, 401, name)
    t.equal(body['errorMsg'], 'the name, the password or the organization is wrong', name)
    t.equal(verified - before, 1, `${name}: the costly part is done once`)
  }
})

void t.test('Web/API: refresh re-use detection, also for users of organizations', async (t) => {
  const { login, controller, as } = await start(t)
  const { body } = await login('anna', 'red')
  const refresh = (token: unknown): Promise<CallAnswer> =>
    controller.call('POST', '/api/v1/auth/refresh', {
      headers: { authorization: `Refresh ${String(token)}` },
    })
  const second = await refresh(body['refreshToken'])
  t.equal(second.status, 200)

  t.equal((await refresh(body['refreshToken'])).status, 401)

  t.equal((await refresh(second.body['refreshToken'])).status, 401)
  controller.advance(4_900)
  await as(String(second.body['accessToken']))(401, 'GET', '/auth/whoami')
})

void t.test('Web/API: CSRF on cookie session, CORS wildcard, clickjacking', async (t) => {
  const { controller } = await start(t)
  const headers = { authorization: basic('anna', password), origin: 'https://evil.example' }
  const login = await controller.call('POST', '/api/v1/auth/login', {
    headers,
    body: { org: 'red', cookie: true },
  })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const withCookie = (path: string, method: string, more: Record<string, string> = {}) =>
    controller.call(method, path, { headers: { cookie, ...more } })

  t.equal(login.headers.get('access-control-allow-origin'), null)
  t.equal((await withCookie('/api/v1/tags', 'GET')).status, 401, 'the cookie is for /auth only')
  t.equal((await withCookie('/api/v1/auth/logout', 'POST')).status, 401)
  for (const site of ['cross-site', 'same-site', 'none'])
    t.equal(
      (await withCookie('/api/v1/auth/refresh', 'POST', { 'sec-fetch-site': site })).status,
      403,
      site,
    )
  const preflight = await controller.call('OPTIONS', '/api/v1/tags', { headers })
  t.notMatch([...preflight.headers.keys()].join(), /access-control/)
  const page = await controller.call('GET', '/docs/index.html')
  t.match(page.headers.get('content-security-policy'), /frame-ancestors 'none'/)
})

void t.test('Web/API: mass assignment and prototype pollution keys', async (t) => {
  const { anna, system, red } = await start(t)
  const made = await anna.call(201, 'POST', '/accounts', {
    name: 'bert',
    password,
    id: 1,
    systemAdministrator: true,
  })
  t.match(made, { systemAdministrator: false })
  t.not(made['id'], 1)
  const at = `/accounts/${idOf(made)}`
  for (const key of ['role', 'orgId', 'organizationId', 'passwordHash', 'permissions', 'grants'])
    t.match(await anna.call(400, 'PUT', at, { [key]: 1 }), { errorMsg: new RegExp(`^${key} is`) })
  for (const key of ['constructor', 'prototype', 'toString'])
    await anna.call(400, 'PUT', at, { [key]: { systemAdministrator: true } })
  const pollution = JSON.parse('{"__proto__": {"systemAdministrator": true}}') as object
  await anna.call(400, 'PUT', at, pollution)
  await system.call(400, 'PUT', `/organizations/${red}`, { owner: { id: 1 } })
  t.match(await system.call(200, 'GET', at), { systemAdministrator: false })
})

void t.test('Web/API: SQL injection in sort, filter and take; wildcards', async (t) => {
  const { system } = await start(t)
  const paths = ['/organizations', '/accounts', '/users', '/permissions', '/sessions']
  for (const path of paths) {
    for (const query of [
      'sort=id;drop table accounts',
      'sort=passwordHash',
      'sort=accounts.id',
      'passwordHash=*argon2*',
      'refreshDigest=*',
      "take=1;delete from accounts--'",
      'take=-1',
    ])
      await system.call(400, 'GET', `${path}?${encodeURI(query)}`)
    await system.call(200, 'GET', `${path}?created=${encodeURIComponent("' or 1=1 --")}`)
    await system.call(200, 'GET', `${path}?created=${'*%25_'.repeat(50)}`)
  }
  const list = await system.call(200, 'GET', "/accounts?name=anna'%20or%20'1'='1")
  t.same(list, [])
})

void t.test('Web/API: secrets never in responses, logs, errors', async (t) => {
  const { controller, system, anna, login } = await start(t)
  const word = 'a secret of bert only'
  const answers: string[] = []
  const send = async (method: string, path: string, body?: unknown): Promise<CallAnswer> => {
    const answer = await controller.call(method, `/api/v1${path}`, { token: anna.token, body })
    answers.push(answer.text)
    return answer
  }
  const { body } = await send('POST', '/accounts', { name: 'bert', password: word })
  await send('PUT', `/accounts/${idOf(body)}`, { password: word, bogus: word })
  await send('PUT', `/accounts/${idOf(body)}`, { password: [word] })
  await send('PUT', '/auth/password', { old: word, new: `${word} 2` })
  for (const path of ['/accounts', '/users', '/sessions', '/permissions']) await send('GET', path)
  const tokens = (await login('bert', 'red', word)).body
  await controller.apiLog.close()
  const { rows } = await listApiLogs(controller.service.store.queries, { kind: 'all' }, everything)

  const told = [...answers, JSON.stringify(rows), JSON.stringify(controller.lines)].join('\n')

  const secrets = [word, administrator.password, anna.token, system.token, '$argon2id']
  for (const secret of [...secrets, tokens['accessToken'], tokens['refreshToken']])
    t.notOk(told.includes(String(secret)), String(secret).slice(0, 10))
})

void t.test(
  'Web/API: rate limits and lock-out without a denial of service on the victim',
  async (t) => {
    const { controller } = await start(t)
    const tryFrom = async (address: string, word: string): Promise<number> => {
      const headers = { authorization: basic('anna', word), 'x-forwarded-for': address }
      return (
        await controller.call('POST', '/api/v1/auth/login', { headers, body: { org: 'red' } })
      ).status
    }
    for (let count = 0; count < 10; count++) t.equal(await tryFrom('192.0.2.1', 'a guess'), 401)
    t.equal(
      await tryFrom('192.0.2.2', password),
      429,
      'a forwarded address from an untrusted proxy is ignored',
    )

    const trusting = await startTenants(t, { http: { trustedProxies: ['127.0.0.1'] } })
    await trusting.makeOrganization('red')
    await trusting.addPerson('anna', 'red')
    const from = (address: string, word: string): Promise<CallAnswer> =>
      trusting.controller.call('POST', '/api/v1/auth/login', {
        headers: { authorization: basic('anna', word), 'x-forwarded-for': address },
        body: { org: 'red' },
      })
    for (let count = 0; count < 10; count++) await from('192.0.2.1', 'a guess')
    t.equal((await from('192.0.2.1', password)).status, 429)
    t.equal((await from('192.0.2.2', password)).status, 200)
  },
)

void t.test('Web/API: weak passwords refused, wherever one is set', async (t) => {
  const { anna, system, controller } = await start(t)
  for (const short of ['', 'eleven char', 'é'.repeat(11)]) {
    await anna.call(400, 'POST', '/accounts', { name: 'bert', password: short })
    await system.call(400, 'PUT', `/accounts/${anna.id}`, { password: short })
    await anna.call(400, 'PUT', '/auth/password', { old: password, new: short })
  }
  await anna.call(204, 'PUT', '/auth/password', { old: password, new: 'é'.repeat(12) })
  controller.advance(4_900)
  await anna.call(401, 'GET', '/auth/whoami')
})

void t.test('Web/API: an API token is not a way to more', async (t) => {
  const { system, as, controller, red, anna } = await start(t)
  const expire = Math.floor(controller.service.now() / 1000) + 3600
  const make = async (...types: string[]) => {
    const permissions = types.map((type) => ({ type, write: true }))
    const { accessToken } = await system.call(201, 'POST', '/sessions', {
      label: types.join(),
      expire,
      permissions,
    })
    return as(String(accessToken))
  }
  const accounts = await make('account', 'org')

  await accounts(403, 'PUT', `/accounts/${system.id}`, { password: 'it would be root' })
  await accounts(403, 'DELETE', `/accounts/${system.id}`)
  await accounts(403, 'PUT', `/accounts/${anna.id}`, { password: 'it would be anna' })
  const made = await accounts(201, 'POST', '/accounts', { name: 'mallory', password })
  const green = await accounts(201, 'POST', '/organizations', { name: 'green' })
  const account = { account: { id: idOf(made) } }
  await accounts(403, 'PUT', `/organizations/${idOf(green)}/assign`, account)
  await accounts(200, 'PUT', `/organizations/${red}/assign`, account)
  await accounts(403, 'POST', '/permissions', { ...account, type: 'perm', write: true })
  const everythingElse = await make(...permissionTypes.filter((type) => type !== 'perm'))
  await everythingElse(403, 'POST', '/sessions', {
    label: 'x',
    expire,
    permissions: [{ type: 'tag', read: true }],
  })
})
