/** What a coordinator stores of identity: the first administrator, keys, sealed texts, the api log. */
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { listApiLogs } from '../../support/api-logs.js'
import { everything } from '../../../src/resources/list-query.js'
import {
  ensureFirstAdministrator,
  setPassword,
} from '../../../src/coordinator/identity/first-administrator.js'
import { openIdentity } from '../../../src/coordinator/identity/identity.js'
import { openSealing } from '../../../src/coordinator/identity/sealing.js'
import { removeExpiredSessions } from '../../../src/coordinator/identity/sessions.js'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { removeOldApiLogs } from '../../../src/coordinator/api-log/api-log.js'
import { eventually } from '../../support/eventually.js'
import { rows, startTenants, type Call } from './people.js'
import { basic, type CallAnswer } from '../../support/http-call.js'
import { administrator, startController, type Controller } from '../../support/start-controller.js'

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

void t.test(
  'an empty store gets a first administrator with a password in a file that only its user can read',
  async (t) => {
    const c = await startController(t)
    await c.service.store.queries.deleteFrom('accounts').execute()
    const options = { stateDir: t.testdir(), user: null, password: null, stdoutIsTerminal: true }

    const made = await ensureFirstAdministrator(c.service, options)
    const again = await ensureFirstAdministrator(c.service, options)

    const file = join(options.stateDir, 'admin-password')
    const password = (await readFile(file, 'utf8')).trim()
    t.same(made, { name: 'admin', passwordFile: file, passwordToShow: password })
    t.equal(again, null)
    t.ok(password.length >= 20)
    t.equal((await stat(file)).mode & 0o777, 0o600)
    t.equal((await tryLogin(c, { authorization: basic('admin', password) })).status, 200)
    t.notOk(JSON.stringify(c.lines).includes(password))
  },
)

void t.test(
  'a given password that is too short is refused, whether or not an account exists',
  async (t) => {
    const c = await startController(t)
    const options = { stateDir: t.testdir(), user: 'x', password: 'short', stdoutIsTerminal: false }

    await t.rejects(ensureFirstAdministrator(c.service, options), {
      kind: 'invalid',
      message: 'CACHEFLEET_ADMIN_PASSWORD has 5 characters; it must have 12 to 1024',
    })
  },
)

void t.test(
  'set-password ends the sessions and removes the file of the first password',
  async (t) => {
    const c = await startController(t)
    const token = await c.login()
    await writeFile(join(c.stateDir, 'admin-password'), 'old\n')

    await setPassword(c.service, c.stateDir, 'root', 'a new long password')

    await eventually('the session ended', async () => (await whoami(c, token)).status === 401)
    t.equal(
      (await tryLogin(c, { authorization: basic('root', 'a new long password') })).status,
      200,
    )
    await t.rejects(stat(join(c.stateDir, 'admin-password')), { code: 'ENOENT' })
    await t.rejects(setPassword(c.service, c.stateDir, 'nobody', 'a new long password'), {
      kind: 'not-found',
      message: /./,
    })
    await t.rejects(setPassword(c.service, c.stateDir, 'root', 'short'), {
      kind: 'invalid',
      message: /./,
    })
  },
)

void t.test('two coordinators of one store accept each other’s tokens', async (t) => {
  const stateDir = t.testdir()
  const storeUrl = `sqlite:${join(stateDir, 'coordinator.db')}`
  const one = await startController(t, { stateDir, storeUrl })
  const two = await startController(t, { stateDir, storeUrl })
  const { accessToken, refreshToken } = (await tryLogin(one, right)).body

  t.equal((await whoami(two, accessToken)).status, 200)
  const refreshed = await refresh(two, refreshToken)
  t.equal(refreshed.status, 200)
  t.equal((await whoami(one, refreshed.body['accessToken'])).status, 200)
})

void t.test('signing keys are rotated after a month; tokens of both are accepted', async (t) => {
  const c = await startController(t)
  const sealing = await openSealing(c.service.store, join(c.stateDir, 'secret.key'))
  const old = c.identity.keys.readSigner().kid
  c.advance(31 * 24 * 3600 * 1000)
  const token = await c.login()

  await c.identity.keys.rotate()
  const later = await openIdentity(c.service, sealing)

  t.not(c.identity.keys.readSigner().kid, old)
  t.equal(later.keys.readSigner().kid, c.identity.keys.readSigner().kid)
  t.equal((await whoami(c, token)).status, 200)
  t.equal((await whoami(c, await c.login())).status, 200)
})

void t.test(
  'sealing: concurrent starts make one key, and a text opens for its purpose only',
  async (t) => {
    const file = join(t.testdir(), 'deep', 'secret.key')
    const store = await openStore('sqlite::memory:', pino({ enabled: false }))
    t.teardown(() => store.close())

    const [one, two] = await Promise.all([openSealing(store, file), openSealing(store, file)])

    t.equal((await stat(file)).mode & 0o777, 0o600)
    const sealed = one.seal('text ключ', 'a')
    t.equal(await two.open(sealed, 'a'), 'text ключ')
    t.not(one.seal('text ключ', 'a'), sealed)
    await t.rejects(two.open(sealed, 'b'), { kind: 'unavailable', message: /./ })
    await t.rejects(two.open(`${sealed.slice(0, -4)}AAAA`, 'a'), {
      kind: 'unavailable',
      message: /./,
    })
    t.same(one.deriveKey('x'), two.deriveKey('x'))
    await writeFile(file, 'too short\n')
    await t.rejects(openSealing(store, file), { kind: 'invalid', message: /./ })
  },
)

void t.test('the store holds no password and no token', async (t) => {
  const c = await startController(t)
  const { accessToken, refreshToken } = (await tryLogin(c, right)).body
  const { queries } = c.service.store

  const rows = JSON.stringify([
    await queries.selectFrom('accounts').selectAll().execute(),
    await queries.selectFrom('sessions').selectAll().execute(),
    await queries.selectFrom('signingKeys').selectAll().execute(),
  ])

  t.match(rows, /argon2id\$v=19\$m=19456,t=2,p=1/)
  for (const secret of [administrator.password, accessToken, refreshToken, '"d\\":'])
    t.notOk(rows.includes(String(secret)))
})

void t.test('expired sessions are removed', async (t) => {
  const c = await startController(t)
  await c.login()
  c.advance(3_601_000)
  await c.login()

  await removeExpiredSessions(c.service)

  t.equal((await c.service.store.queries.selectFrom('sessions').select('id').execute()).length, 1)
})

void t.test(
  'the api log has every call that is not a GET and every failed login, and no secrets',
  async (t) => {
    const c = await startController(t)
    const token = await c.login()
    await tryLogin(c, wrong)
    await tryLogin(c, { authorization: basic('gh\0ost', 'x') })
    const traceId = 'a-trace-id-of-mine'
    await c.call('DELETE', '/api/v1/sessions/987654321', {
      token,
      headers: { 'x-trace-id': traceId },
    })
    await c.call('DELETE', '/api/v1/sessions/9%00', { token })
    await c.call('GET', '/api/v1/sessions', { token })
    await c.call('POST', '/api/v1/nothing?secret=1', { token })
    await c.apiLog.close()

    const { rows } = await listApiLogs(c.service.store.queries, { kind: 'all' }, everything)

    const short = rows.map(({ method, path, status, severity, account, keyType, keyId }) => [
      [method, path, status].join(' '),
      [severity, account, keyType, keyId].join(' '),
    ])
    t.same(short, [
      ['POST /api/v1/auth/login 200', '1 root auth '],
      ['POST /api/v1/auth/login 401', '2 root auth '],
      ['POST /api/v1/auth/login 401', '2 ghost auth '],
      ['DELETE /api/v1/sessions/987654321 404', '2 root session 987654321'],
      ['DELETE /api/v1/sessions/9%00 404', '2 root session '],
      ['POST /api/v1/nothing 404', '2 root path '],
    ])
    t.equal(rows[3]?.traceId, traceId)
    t.equal(rows[3]?.msg, '987654321 was not found')
    t.notOk(JSON.stringify(rows).includes('not the right one'))
  },
)

void t.test(
  'a login is in the api log of the organization that it names, a refresh in that of its session',
  async (t) => {
    const { controller, system, makeOrganization, addPerson, login } = await startTenants(t)
    await makeOrganization('acme')
    const ann = await addPerson('ann', 'acme')
    await login('ann', 'acme', 'not the right one')
    await login('ghost', 'acme', 'not the right one')
    await login('ann', 'nowhere', 'not the right one')
    await login('ann', undefined, 'not the right one')
    const { body } = await login('ann', 'acme')
    await refresh(controller, body['refreshToken'])

    const logins = (call: Call) => async () => {
      const found = rows(await call(200, 'GET', '/apilogs?path=*login,*refresh&sort=id'))
      return found.map(({ account, status }) => `${String(account)} ${String(status)}`).toSorted()
    }
    const wrong = ['ann 401', 'ghost 401']
    const renewed = ['ann 200', 'ann 200']
    const all = ['root 200', 'ann 200', ...wrong, 'ann 401', 'ann 401', ...renewed]
    await eventually(
      'all are written',
      async () => (await logins(system.call)()).length >= all.length,
    )
    t.strictSame(await logins(ann.call)(), ['ann 200', ...wrong, ...renewed].toSorted())
    t.strictSame(await logins(system.call)(), all.toSorted())
  },
)

void t.test('the api log keeps entries for its retention', async (t) => {
  const c = await startController(t)
  await c.login()
  await eventually(
    'the entry is written',
    async () =>
      (await listApiLogs(c.service.store.queries, { kind: 'all' }, everything)).total === 1,
  )
  c.advance(6 * 24 * 3600 * 1000)
  await removeOldApiLogs(c.service)
  const kept = await listApiLogs(c.service.store.queries, { kind: 'all' }, everything)

  c.advance(2 * 24 * 3600 * 1000)
  await removeOldApiLogs(c.service)

  t.equal(kept.total, 1)
  t.equal((await listApiLogs(c.service.store.queries, { kind: 'all' }, everything)).total, 0)
})
