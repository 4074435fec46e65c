/** Logins, tokens and sessions, as a caller meets them. */
import { SignJWT } from 'jose'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import {
  administrator,
  basic,
  startController,
  type CallAnswer,
  type Controller,
} from '../../support/start-controller.js'

const right = { authorization: basic(administrator.user, administrator.password) }
const wrong = { authorization: basic(administrator.user, 'not the right one') }

function tryLogin(c: Controller, headers: Record<string, string>): Promise<CallAnswer> {
  return c.call('POST', '/api/v1/auth/login', { headers })
}

function refresh(c: Controller, token: unknown): Promise<CallAnswer> {
  const headers = { authorization: `Refresh ${String(token)}` }
  return c.call('POST', '/api/v1/auth/refresh', { headers })
}

function whoami(c: Controller, token: unknown): Promise<CallAnswer> {
  return c.call('GET', '/api/v1/auth/whoami', { token: String(token) })
}

void t.test('a login answers the four fields and its token says who one is', async (t) => {
  const c = await startController(t)

  const { status, body } = await tryLogin(c, right)
  const me = await whoami(c, body['accessToken'])

  t.equal(status, 200)
  t.same(Object.keys(body).sort(), ['accessExpire', 'accessToken', 'refreshExpire', 'refreshToken'])
  const now = Math.floor(c.service.now() / 1000)
  t.ok(Math.abs(Number(body['accessExpire']) - now - 600) < 60)
  t.ok(Math.abs(Number(body['refreshExpire']) - now - 3600) < 60)
  t.match(me.body, { account: { name: 'root' }, organization: null, role: 'system' })
  t.equal((me.body['permissions'] as unknown[]).length, 15)
  const [head = ''] = String(body['accessToken']).split('.')
  t.match(JSON.parse(Buffer.from(head, 'base64url').toString()), { alg: 'EdDSA', kid: /^\w+$/ })
})

void t.test('what is wrong with a login is not told', async (t) => {
  const c = await startController(t)
  const attempts: Record<string, { headers: Record<string, string>; body?: unknown }> = {
    'a wrong password': { headers: wrong },
    'an unknown name': { headers: { authorization: basic('nobody', administrator.password) } },
    'a name with U+0000': { headers: { authorization: basic('ro\0ot', 'x') } },
    'an empty name and password': { headers: { authorization: basic('', '') } },
    'an organization of the system administrator': { headers: right, body: { org: 'acme' } },
  }

  const answers = new Set<string>()
  for (const [name, { headers, body }] of Object.entries(attempts)) {
    const answer = await c.call('POST', '/api/v1/auth/login', { headers, body })
    t.equal(answer.status, 401, name)
    t.equal(answer.body['errorKey'], 'auth', name)
    answers.add(String(answer.body['errorMsg']))
  }

  t.equal(answers.size, 1)
  for (const headers of [
    {},
    { authorization: 'Basic' },
    { authorization: 'Basic bm9jb2xvbg==' },
    { authorization: 'Bearer x' },
  ])
    t.equal((await tryLogin(c, headers as Record<string, string>)).status, 401)
})

void t.test('an access token counts until it expires, and only if it is ours', async (t) => {
  const c = await startController(t)
  const other = await startController(t)
  const token = await c.login()
  const foreign = await other.login()
  const [head = '', payload = '', signature = ''] = token.split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  const longer = Buffer.from(JSON.stringify({ ...claims, exp: 9e9 })).toString('base64url')
  const forged = [
    foreign,
    `${none}.${payload}.`,
    `${head}.${longer}.${signature}`,
    `${head}.${payload}.${signature.slice(0, -2)}`,
    'x',
    'a.b.c',
    '..',
    `${Buffer.from('[]').toString('base64url')}.${payload}.${signature}`,
  ]

  for (const text of forged) t.equal((await whoami(c, text)).status, 401, text.slice(0, 40))
  t.equal((await whoami(c, token)).status, 200)
  for (const authorization of [`Basic ${token}`, `Refresh ${token}`, token, 'Bearer', ''])
    t.equal(
      (await c.call('GET', '/api/v1/auth/whoami', { headers: { authorization } })).status,
      401,
    )
  c.advance(601_000)
  const late = await whoami(c, token)

  t.equal(late.status, 401)
  t.match(late.body['errorMsg'], /expired/)
  t.ok(late.headers.get('www-authenticate'))
})

void t.test('a token that is signed for something else is none', async (t) => {
  const c = await startController(t)
  const { kid, privateKey } = c.identity.keys.readSigner()
  const [row] = await c.service.store.queries.selectFrom('signingKeys').selectAll().execute()
  const right = {
    ...{ iss: 'test', aud: 'cachefleet access', sub: '1' },
    exp: Math.floor(c.service.now() / 1000) + 60,
  }
  await c.login()
  const sign = (
    claims: Record<string, unknown>,
    head: Record<string, string> = {},
    key: typeof privateKey | Uint8Array = privateKey,
  ): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT', ...head }).sign(key)
  const publicKey = Buffer.from(row?.publicJwk ?? '')

  t.equal((await whoami(c, await sign(right))).status, 200)
  for (const [name, token] of Object.entries({
    'another audience': await sign({ ...right, aud: 'cachefleet refresh' }),
    'no audience': await sign({ ...right, aud: undefined }),
    'another issuer': await sign({ ...right, iss: 'another coordinator' }),
    'no end': await sign({ ...right, exp: undefined }),
    'another session': await sign({ ...right, sub: '0' }),
    'no session number': await sign({ ...right, sub: '1 or 1=1' }),
    'another type': await sign(right, { typ: 'JOSE' }),
    'another key id': await sign(right, { kid: '../../etc/passwd' }),
    'the public key as a secret': await sign(right, { alg: 'HS256' }, publicKey),
  }))
    t.equal((await whoami(c, token)).status, 401, name)
})

void t.test('a token is not believed longer than it lives', async (t) => {
  const c = await startController(t)
  const token = await c.login()
  c.advance(598_000)
  t.equal((await whoami(c, token)).status, 200)

  c.advance(2_100)

  t.equal((await whoami(c, token)).status, 401)
})

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

void t.test('of two refreshes at once one wins and the session ends', async (t) => {
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

void t.test('logout ends one session; its tokens are worth nothing at once', async (t) => {
  const c = await startController(t)
  const one = (await tryLogin(c, right)).body
  const two = await c.login()
  await whoami(c, one['accessToken'])

  const out = await c.call('POST', '/api/v1/auth/logout', { token: String(one['accessToken']) })

  t.equal(out.status, 204)
  t.equal(out.text, '')
  await eventually(
    'the token is worth nothing',
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
    const gone = await c.call('DELETE', `/api/v1/sessions/${String(newest['id'])}`, { token: mine })
    const again = await c.call('DELETE', `/api/v1/sessions/${String(newest['id'])}`, {
      token: mine,
    })

    t.equal(list.headers.get('x-total-count'), '2')
    t.same(newest['account'], { id: 1, name: 'root' })
    t.equal(newest['accessExpire'], other['accessExpire'])
    t.notOk(list.text.includes(String(other['refreshToken'])))
    t.equal(gone.status, 204)
    t.equal(again.status, 404)
    await eventually('ended', async () => (await whoami(c, other['accessToken'])).status === 401)
    t.equal((await c.call('GET', '/api/v1/sessions?nope=1', { token: mine })).status, 400)
  },
)

void t.test('a change that no hint tells of acts within 5 s', async (t) => {
  const c = await startController(t)
  const token = await c.login()
  t.equal((await whoami(c, token)).status, 200)

  // As another process would: the row changes, nothing is published here.
  await c.service.store.queries.updateTable('accounts').set({ locked: 1 }).execute()
  c.advance(4_900)

  t.equal((await whoami(c, token)).status, 401)
  t.equal((await tryLogin(c, right)).status, 401)
})

void t.test('the own password is changed with the old one, and all sessions end', async (t) => {
  const c = await startController(t)
  const token = await c.login()
  const other = await c.login()
  const put = (old: string, fresh: string): Promise<CallAnswer> =>
    c.call('PUT', '/api/v1/auth/password', { token, body: { old, new: fresh } })

  const short = await put(administrator.password, 'short')
  const refused = await put('not the old one', 'another long password')
  const done = await put(administrator.password, 'another long password')

  t.equal(short.status, 400)
  t.match(short.body['errorMsg'], /new has 5 characters/)
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

void t.test(
  'ten failures for an account from an address are the limit; a success forgives them',
  async (t) => {
    const c = await startController(t)
    for (let i = 0; i < 9; i++) t.equal((await tryLogin(c, wrong)).status, 401)
    t.equal((await tryLogin(c, right)).status, 200)
    for (let i = 0; i < 10; i++) t.equal((await tryLogin(c, wrong)).status, 401)

    const limited = await tryLogin(c, right)

    t.equal(limited.status, 429)
    t.equal(limited.body['errorKey'], 'auth')
    const wait = Number(limited.headers.get('retry-after'))
    t.ok(wait >= 1 && wait <= 900)
    c.advance(wait * 1000 + 1000)
    t.equal((await tryLogin(c, right)).status, 200)
  },
)

void t.test('guesses that are sent together do not get past the limit', async (t) => {
  const c = await startController(t)

  const answers = await Promise.all(Array.from({ length: 40 }, () => tryLogin(c, wrong)))

  const refused = answers.filter(({ status }) => status === 401).length
  t.ok(refused >= 10 && refused <= 12, `${refused} were tried`)
})

void t.test(
  'fifty failures from an address stop its guesses, never those who are in or come from elsewhere',
  async (t) => {
    const c = await startController(t, { http: { trustedProxies: ['127.0.0.1'] } })
    const token = await c.login()
    const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address })
    for (let i = 0; i < 25; i++) {
      const guess = { authorization: basic(`name-${i}`, 'x'), ...from('192.0.2.7') }
      t.equal((await tryLogin(c, guess)).status, 401)
    }
    for (let i = 0; i < 25; i++)
      t.equal(
        (
          await c.call('GET', '/api/v1/auth/whoami', {
            token: `made.up.${i}`,
            headers: from('192.0.2.7'),
          })
        ).status,
        401,
      )

    const same = await tryLogin(c, { ...right, ...from('192.0.2.7') })
    const made = await c.call('GET', '/api/v1/auth/whoami', {
      token: 'made.up.x',
      headers: from('192.0.2.7'),
    })
    const elsewhere = await tryLogin(c, { ...right, ...from('192.0.2.8') })
    const known = await c.call('GET', '/api/v1/auth/whoami', { token, headers: from('192.0.2.7') })

    t.equal(same.status, 429)
    t.equal(made.status, 429)
    t.equal(elsewhere.status, 200)
    t.equal(known.status, 200)
  },
)

void t.test('a forwarded address counts only from a configured proxy', async (t) => {
  const c = await startController(t)
  for (let i = 0; i < 10; i++) await tryLogin(c, { ...wrong, 'x-forwarded-for': `192.0.2.${i}` })

  t.equal((await tryLogin(c, { ...right, 'x-forwarded-for': '192.0.2.99' })).status, 429)
})

void t.test('many logins at once are all served', async (t) => {
  const c = await startController(t)

  const answers = await Promise.all(Array.from({ length: 30 }, () => tryLogin(c, right)))

  t.ok(answers.every(({ status }) => status === 200))
})
