/** Logins and access tokens as API callers see them, and the limits on guessing. Sessions: `sessions.test.ts`. */
import { SignJWT } from 'jose'
import t from 'tap'
import { permissionTypes } from '../../../src/resources/permission.js'
import { basic } from '../../support/http-call.js'
import { administrator, startController } from '../../support/start-controller.js'
import { right, tryLogin, whoami, wrong } from './logins.js'

void t.test('a login answers the four fields, and its token identifies the caller', async (t) => {
  const c = await startController(t)

  const { status, body } = await tryLogin(c, right)
  const me = await whoami(c, body['accessToken'])

  t.equal(status, 200)
  t.same(Object.keys(body).sort(), ['accessExpire', 'accessToken', 'refreshExpire', 'refreshToken'])
  const now = Math.floor(c.service.now() / 1000)
  t.ok(Math.abs(Number(body['accessExpire']) - now - 600) < 60)
  t.ok(Math.abs(Number(body['refreshExpire']) - now - 3600) < 60)
  t.match(me.body, { account: { name: 'root' }, organization: null, role: 'system' })
  t.equal((me.body['permissions'] as unknown[]).length, permissionTypes.length)
  const [head = ''] = String(body['accessToken']).split('.')
  t.match(JSON.parse(Buffer.from(head, 'base64url').toString()), { alg: 'EdDSA', kid: /^\w+$/ })
})

void t.test('a refused login does not reveal what is wrong', async (t) => {
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

void t.test('a token is valid until it expires; forged and foreign ones never', async (t) => {
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

void t.test('a token that is signed for another purpose is refused', async (t) => {
  const c = await startController(t)
  const { kid, privateKey } = c.identity.keys.readSigner()
  const [row] = await c.service.store.queries.selectFrom('signingKeys').selectAll().execute()
  const right = {
    iss: 'test',
    aud: 'cachefleet access',
    sub: '1',
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

void t.test('a cached token is refused once it has expired', async (t) => {
  const c = await startController(t)
  const token = await c.login()
  c.advance(598_000)
  t.equal((await whoami(c, token)).status, 200)

  c.advance(2_100)

  t.equal((await whoami(c, token)).status, 401)
})

void t.test(
  'ten failures for an account from an address are the limit; a success resets them',
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

void t.test('concurrent guesses do not get past the limit', async (t) => {
  const c = await startController(t)

  const answers = await Promise.all(Array.from({ length: 40 }, () => tryLogin(c, wrong)))

  const refused = answers.filter(({ status }) => status === 401).length
  t.ok(refused >= 10 && refused <= 12, `${refused} were tried`)
})

void t.test(
  'fifty failures from an address block its guesses, never valid sessions or other addresses',
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

void t.test('many concurrent logins are all served', async (t) => {
  const c = await startController(t)

  const answers = await Promise.all(Array.from({ length: 30 }, () => tryLogin(c, right)))

  t.ok(answers.every(({ status }) => status === 200))
})
