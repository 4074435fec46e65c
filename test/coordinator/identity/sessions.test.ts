/** Sessions as API callers see them: refreshed, stolen, listed, ended. */
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { basic, type CallAnswer } from '../../support/http-call.js'
import { administrator, startController } from '../../support/start-controller.js'
import { refresh, right, tryLogin, whoami } from './logins.js'

void t.test('a refresh gives a new pair and leaves the earlier access token valid', async (t) => {
  const c = await startController(t)
  const first = (await tryLogin(c, right)).body

  const second = await refresh(c, first['refreshToken'])

  t.equal(second.status, 200)
  t.not(second.body['refreshToken'], first['refreshToken'])
  t.not(second.body['accessToken'], first['accessToken'])
  t.equal((await whoami(c, first['accessToken'])).status, 200)
  t.equal((await whoami(c, second.body['accessToken'])).status, 200)
})

void t.test('the second use of a refresh token ends its session and no other', async (t) => {
  const c = await startController(t)
  const first = (await tryLogin(c, right)).body
  const other = (await tryLogin(c, right)).body
  const second = (await refresh(c, first['refreshToken'])).body
  const third = (await refresh(c, second['refreshToken'])).body

  const stolen = await refresh(c, first['refreshToken'])

  t.equal(stolen.status, 401)
  t.equal((await refresh(c, third['refreshToken'])).status, 401)
  for (const { accessToken } of [first, second, third])
    t.equal((await whoami(c, accessToken)).status, 401)
  t.equal((await whoami(c, other['accessToken'])).status, 200)
})

void t.test('of two concurrent refreshes one succeeds, and the session ends', async (t) => {
  const c = await startController(t)
  const { refreshToken } = (await tryLogin(c, right)).body

  const answers = await Promise.all([refresh(c, refreshToken), refresh(c, refreshToken)])

  t.same(answers.map(({ status }) => status).sort(), [200, 401])
  const winner = answers.find(({ status }) => status === 200)
  t.equal((await refresh(c, winner?.body['refreshToken'])).status, 401)
})

void t.test('a made-up or expired refresh token is refused and harms no session', async (t) => {
  const c = await startController(t)
  const { refreshToken, accessToken } = (await tryLogin(c, right)).body
  const [session = '', random = '', mac = ''] = String(refreshToken).split('.')

  for (const made of [
    'x',
    `${session}.${random}.${mac.slice(0, -2)}AA`,
    `${session}.${'A'.repeat(32)}.${mac}`,
    `9${String(refreshToken)}`,
  ])
    t.equal((await refresh(c, made)).status, 401, made)
  t.equal((await c.call('POST', '/api/v1/auth/refresh')).status, 401)
  t.equal((await whoami(c, accessToken)).status, 200)
  c.advance(3_601_000)

  t.equal((await refresh(c, refreshToken)).status, 401)
})

void t.test(
  'a page keeps the refresh token in a cookie that scripts and other sites cannot use',
  async (t) => {
    const c = await startController(t)

    const login = await c.call('POST', '/api/v1/auth/login', {
      headers: right,
      body: { cookie: true },
    })
    const cookie = login.headers.get('set-cookie') ?? ''
    const headers = { cookie: cookie.split(';')[0] ?? '' }
    const foreign = await c.call('POST', '/api/v1/auth/refresh', {
      headers: { ...headers, 'sec-fetch-site': 'cross-site' },
    })
    const refreshed = await c.call('POST', '/api/v1/auth/refresh', {
      headers: { ...headers, 'sec-fetch-site': 'same-origin' },
    })

    t.notOk('refreshToken' in login.body)
    t.match(cookie, /; Path=\/api\/v1\/auth; HttpOnly; SameSite=Strict; Expires=/)
    t.equal(foreign.status, 403)
    t.equal(refreshed.status, 200)
    t.notOk('refreshToken' in refreshed.body)
    t.match(refreshed.headers.get('set-cookie'), /^cachefleet_refresh=\S+; /)
    const token = String(refreshed.body['accessToken'])
    const out = await c.call('POST', '/api/v1/auth/logout', { token })
    t.match(out.headers.get('set-cookie'), /^cachefleet_refresh=; .*Expires=Thu, 01 Jan 1970/)
  },
)

void t.test('logout ends one session and invalidates its tokens at once', async (t) => {
  const c = await startController(t)
  const one = (await tryLogin(c, right)).body
  const two = await c.login()
  await whoami(c, one['accessToken'])

  const out = await c.call('POST', '/api/v1/auth/logout', { token: String(one['accessToken']) })

  t.equal(out.status, 204)
  t.equal(out.text, '')
  await eventually(
    'the token is refused',
    async () => (await whoami(c, one['accessToken'])).status === 401,
  )
  t.equal((await refresh(c, one['refreshToken'])).status, 401)
  t.equal((await whoami(c, two)).status, 200)
})

void t.test(
  'sessions are listed without secrets and can be ended by an administrator',
  async (t) => {
    const c = await startController(t)
    const mine = await c.login()
    const other = (await tryLogin(c, right)).body

    const list = await c.call('GET', '/api/v1/sessions?sort=id:desc&account.name=root', {
      token: mine,
    })
    const [newest] = JSON.parse(list.text) as [Record<string, unknown>]
    const own = await whoami(c, other['accessToken'])
    const gone = await c.call('DELETE', `/api/v1/sessions/${String(newest['id'])}`, { token: mine })
    const again = await c.call('DELETE', `/api/v1/sessions/${String(newest['id'])}`, {
      token: mine,
    })

    t.equal(list.headers.get('x-total-count'), '2')
    t.same(newest['account'], { id: 1, name: 'root' })
    t.equal(newest['accessExpire'], other['accessExpire'])
    t.same(own.body['session'], { id: newest['id'] }, 'whoami names the session')
    t.notOk(list.text.includes(String(other['refreshToken'])))
    t.equal(gone.status, 204)
    t.equal(again.status, 404)
    await eventually('it ended', async () => (await whoami(c, other['accessToken'])).status === 401)
    t.equal((await c.call('GET', '/api/v1/sessions?nope=1', { token: mine })).status, 400)
  },
)

void t.test('a change without a hint takes effect within 5 s', async (t) => {
  const c = await startController(t)
  const token = await c.login()
  t.equal((await whoami(c, token)).status, 200)

  // As another process would: the row changes, and nothing is published here.
  await c.service.store.queries.updateTable('accounts').set({ locked: 1 }).execute()
  c.advance(4_900)

  t.equal((await whoami(c, token)).status, 401)
  t.equal((await tryLogin(c, right)).status, 401)
})

void t.test('changing one’s password needs the old one and ends all sessions', async (t) => {
  const c = await startController(t)
  const token = await c.login()
  const other = await c.login()
  const put = (old: string, fresh: string): Promise<CallAnswer> =>
    c.call('PUT', '/api/v1/auth/password', { token, body: { old, new: fresh } })

  const short = await put(administrator.password, 'short')
  const refused = await put('not the old one', 'another long password')
  const done = await put(administrator.password, 'another long password')

  t.equal(short.status, 400)
  t.match(short.body, { errorKey: 'auth', errorMsg: /new has 5 characters/ })
  t.equal(refused.status, 403)
  t.equal(done.status, 204)
  for (const ended of [token, other])
    await eventually('the session ended', async () => (await whoami(c, ended)).status === 401)
  t.equal((await tryLogin(c, right)).status, 401)
  t.equal(
    (await tryLogin(c, { authorization: basic('root', 'another long password') })).status,
    200,
  )
})
