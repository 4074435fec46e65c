/** Access to the console and its refusals (docs/behaviour.md, Console). */
import t from 'tap'
import { basic } from '../../support/http-call.js'
import { administrator } from '../../support/start-controller.js'
import { root, startConsole } from './console-client.js'

const form = 'application/x-www-form-urlencoded'

void t.test(
  'a form login returns name and role, and a cookie that authenticates calls',
  async (t) => {
    const { call } = await startConsole(t)
    const text = new URLSearchParams({
      username: administrator.user,
      password: administrator.password,
    }).toString()
    const answer = await call('POST', '/rest/login', { as: null, text, type: form })
    t.equal(answer.status, 200)
    t.same(answer.body, { username: 'root', role: 'Admin' })
    const [set = ''] = answer.headers.getSetCookie()
    t.match(set, /^JSESSIONID=[\w.-]{40,};.*HttpOnly; SameSite=Strict$/)
    const [cookie = ''] = set.split(';')
    t.equal((await call('GET', '/v1/cache', { as: null, cookie })).status, 200)
    t.equal((await call('GET', '/rest/checkcookie', { as: null, cookie })).status, 200)
  },
)

void t.test('a session ends at logout, or after 30 minutes without a call', async (t) => {
  const { call, login, controller } = await startConsole(t)
  const { user, password } = administrator
  const gone = await login(user, password)
  t.equal((await call('POST', '/rest/logout', { as: null, cookie: gone })).status, 200)
  t.equal((await call('GET', '/v1/cache', { as: null, cookie: gone })).status, 401)
  t.equal((await call('GET', '/v1/cache', { cookie: gone })).status, 403, 'with valid credentials')
  t.equal((await call('GET', '/v1/cache', { as: 'root:wrong', cookie: gone })).status, 401)

  const idle = await login(user, password)
  for (let minutes = 0; minutes < 60; minutes += 20) {
    controller.advance(20 * 60_000)
    t.equal((await call('GET', '/v1/cache', { as: null, cookie: idle })).status, 200)
  }
  controller.advance(31 * 60_000)
  t.equal((await call('GET', '/rest/checkcookie', { as: null, cookie: idle })).status, 401)
})

void t.test('every failed login gets the same message', async (t) => {
  const { call } = await startConsole(t)
  const messages = new Set<unknown>()
  for (const as of ['root:wrong', 'nobody:wrong', 'root@nowhere:wrong']) {
    const answer = await call('GET', '/v1/cache', { as })
    t.equal(answer.status, 401)
    messages.add(answer.body['message'])
  }
  t.equal(messages.size, 1)
})

void t.test(
  'failed logins of an account count together, whichever organization they name',
  async (t) => {
    const { call } = await startConsole(t)
    for (let guess = 0; guess < 10; guess++)
      t.equal((await call('GET', '/v1/cache', { as: `root@${guess}:wrong` })).status, 401)
    t.equal((await call('GET', '/v1/cache', { as: 'root@more:wrong' })).status, 429)
    t.equal((await call('GET', '/v1/cache', { as: 'root:wrong' })).status, 429)
  },
)

void t.test('a correct password is refused from an address with too many failures', async (t) => {
  const { call } = await startConsole(t, { http: { trustedProxies: ['127.0.0.1'] } })
  const from = (address: string, as = root) =>
    call('GET', '/v1/cache', { as, headers: { 'x-forwarded-for': address } })
  t.equal((await from('192.0.2.1')).status, 200, 'the first address can log in')
  for (let guess = 0; guess < 10; guess++)
    t.equal((await from('198.51.100.7', `root:wrong ${guess}`)).status, 401)
  const late = await from('198.51.100.7')
  t.equal(late.status, 429)
  t.match(late.headers.get('retry-after'), /^[1-9][0-9]{0,2}$/)
  t.equal((await from('192.0.2.1')).status, 200, 'other addresses can still log in')
})

void t.test('Basic works for the console only, Bearer for the controller only', async (t) => {
  const { call, controller } = await startConsole(t)
  const token = await controller.login()
  const bearer = { authorization: `Bearer ${token}` }
  t.equal((await call('GET', '/v1/cache', { as: null, headers: bearer })).status, 401)
  const { user, password } = administrator
  const named = { authorization: basic(user, password) }
  t.equal((await controller.call('GET', '/api/v1/sessions', { headers: named })).status, 401)
  const nowhere = await controller.call('GET', '/api/v1/no-such-thing', { token })
  t.equal(nowhere.status, 404)
  t.hasStrict(nowhere.body, { errorKey: 'path', message: nowhere.body['errorMsg'] })
  const elsewhere = await controller.call('GET', '/api/v2/tags')
  t.equal(elsewhere.status, 404, 'an unknown path outside the APIs needs no login')
})

void t.test('a write with the cookie is accepted only from pages of this service', async (t) => {
  const { call, login, controller } = await startConsole(t)
  const cookie = await login(administrator.user, administrator.password)
  const from = (origin: string) =>
    call('DELETE', '/v1/cache', { as: null, cookie, headers: { origin } })
  for (const origin of ['http://evil.example', 'null', `${controller.base}.evil.example`])
    t.equal((await from(origin)).status, 403, origin)
  t.equal((await from(controller.base)).status, 405, 'only the method is refused')

  const logOut = (origin: string) =>
    call('POST', '/rest/logout', { as: null, cookie, headers: { origin } })
  t.equal((await logOut('http://evil.example')).status, 403, 'another origin cannot end a session')
  t.equal((await call('GET', '/rest/checkcookie', { as: null, cookie })).status, 200)
  t.equal((await logOut(controller.base)).status, 200)
  t.equal((await logOut('http://evil.example')).status, 200, 'there is no session to end')
})

void t.test('an unknown path below a console path is refused by the console', async (t) => {
  const { call } = await startConsole(t)
  const id = 'c00000000000000000000001'
  const paths = [
    ...[`/v1/cache/${id}/status/`, `/v1/cache/${id}/setbackend/default`, '/v1/cache/1/2/3'],
    ...[`/v1/group/${id}/vcl/${id}/deploy/now`, '/v1/license/upload/it', '/v1/schema/cache/x/y'],
  ]
  for (const path of paths)
    for (const method of ['GET', 'PUT', 'PROPFIND']) {
      const answer = await call(method, path)
      t.equal(answer.status, 404, `${method} ${path}`)
      t.same(Object.keys(answer.body), ['message'], path)
      t.equal((await call(method, path, { as: null })).status, 401, `${method} ${path} by nobody`)
    }
})

void t.test('an unknown path of public calls answers 404 without a login', async (t) => {
  const { call } = await startConsole(t)
  for (const path of ['/rest', '/rest/', '/rest/nothing', '/rest/version/', '/rest/status/all'])
    for (const method of ['GET', 'POST', 'PROPFIND']) {
      const answer = await call(method, path, { as: null })
      t.equal(answer.status, 404, `${method} ${path}`)
      t.same(Object.keys(answer.body), ['message'], path)
    }
})

void t.test('refusals are {message}: wrong type, method, page, path', async (t) => {
  const { call } = await startConsole(t)
  const cases: [string, string, number][] = [
    ['GET', '/rest/login', 405],
    ['POST', '/v1/cache', 405],
    ['GET', '/rest/nothing', 404],
    ['GET', '/v1/cache/0/5', 400],
    ['GET', '/v1/cache/1/1001', 400],
    ['GET', '/v1/cache/c00000000000000000000001', 404],
    ['GET', '/v1/cache/7', 404],
  ]
  for (const [method, path, status] of cases) {
    const answer = await call(method, path)
    t.equal(answer.status, status, `${method} ${path}`)
    t.type(answer.body['message'], 'string', path)
    if (status === 405) t.ok(answer.headers.get('allow'), 'Allow')
  }
  const json = { username: 'root', password: 'x' }
  t.equal((await call('POST', '/rest/login', { as: null, body: json })).status, 415)
})
