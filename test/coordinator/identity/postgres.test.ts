/** Identity on PostgreSQL: two coordinators of one store, each with its own bus, so that no hint passes between them. */
import t from 'tap'
import { removeOldApiLogs } from '../../../src/coordinator/api-log/api-log.js'
import { setPassword } from '../../../src/coordinator/identity/first-administrator.js'
import { removeExpiredSessions } from '../../../src/coordinator/identity/sessions.js'
import { everything, parseListQuery } from '../../../src/resources/list-query.js'
import { apiLogColumns } from '../../../src/coordinator/api-log/api-log-queries.js'
import { listApiLogs } from '../../support/api-logs.js'
import { ensureSetting } from '../../../src/coordinator/store/settings.js'
import { startPostgres } from '../../support/postgres.js'
import { basic, type CallAnswer } from '../../support/http-call.js'
import { administrator, startController, type Controller } from '../../support/start-controller.js'

const right = { authorization: basic(administrator.user, administrator.password) }

function whoami(c: Controller, token: unknown): Promise<CallAnswer> {
  return c.call('GET', '/api/v1/auth/whoami', { token: String(token) })
}

function refresh(c: Controller, token: unknown): Promise<CallAnswer> {
  const headers = { authorization: `Refresh ${String(token)}` }
  return c.call('POST', '/api/v1/auth/refresh', { headers })
}

void t.test(
  'coordinators that share a store share logins and see each other’s revocations',
  async (t) => {
    const postgres = await startPostgres(t)
    const stateDir = t.testdir()
    const storeUrl = await postgres.url()
    const [one, two] = await Promise.all([
      startController(t, { stateDir, storeUrl }),
      startController(t, { stateDir, storeUrl }),
    ])
    const { queries } = one.service.store

    await t.test('one administrator and one signing key were made', async (t) => {
      t.equal((await queries.selectFrom('accounts').select('id').execute()).length, 1)
      t.equal((await queries.selectFrom('signingKeys').select('kid').execute()).length, 1)
      const ids = await Promise.all(
        ['a', 'b'].map((value) => ensureSetting(queries, 'coordinatorId', value)),
      )
      t.equal(ids[0], ids[1])
    })

    await t.test(
      'a token of one is valid at the other; a second use of a refresh token ends both',
      async (t) => {
        const first = (await one.call('POST', '/api/v1/auth/login', { headers: right })).body
        t.equal((await whoami(two, first['accessToken'])).status, 200)
        const [a, b] = await Promise.all([
          refresh(one, first['refreshToken']),
          refresh(two, first['refreshToken']),
        ])
        t.same([a.status, b.status].sort(), [200, 401])
        two.advance(4_500)
        t.equal((await whoami(two, first['accessToken'])).status, 401)
      },
    )

    await t.test('sessions are filtered and sorted', async (t) => {
      const token = await one.login()
      await one.login()
      const list = await one.call(
        'GET',
        '/api/v1/sessions?account.name=ro*&organization.name=null&sort=accessExpire:desc&take=1',
        { token },
      )
      t.equal(list.status, 200)
      t.equal(list.headers.get('x-total-count'), '2')
      const [session] = JSON.parse(list.text) as [{ id: number; accessExpire: number }]
      const same = await one.call('GET', `/api/v1/sessions?accessExpire=${session.accessExpire}`, {
        token,
      })
      t.ok(same.text.includes(`"id":${session.id}`))
    })

    await t.test(
      'names that PostgreSQL cannot hold are refused as wrong names, in the api log too',
      async (t) => {
        const headers = { authorization: basic('ro\0ot', 'x') }
        t.equal((await two.call('POST', '/api/v1/auth/login', { headers })).status, 401)
        await two.apiLog.close()
        const wanted = { account: 'root', status: '401', path: '*login' }
        const query = parseListQuery(wanted, apiLogColumns, 'apilog')
        t.equal((await listApiLogs(queries, { kind: 'all' }, query)).total, 1)
      },
    )

    await t.test('a password set outside the API ends all sessions', async (t) => {
      const token = await one.login()
      t.equal((await whoami(two, token)).status, 200)
      await setPassword(one.service, stateDir, administrator.user, 'a new long password')
      two.advance(4_500)
      t.equal((await whoami(two, token)).status, 401)
    })

    await t.test('expired sessions and old log entries are removed', async (t) => {
      one.advance(8 * 24 * 3600 * 1000)
      await removeExpiredSessions(one.service)
      await one.apiLog.close()
      await removeOldApiLogs(one.service)
      t.equal((await queries.selectFrom('sessions').select('id').execute()).length, 0)
      t.equal((await listApiLogs(queries, { kind: 'all' }, everything)).total, 0)
    })
  },
)
