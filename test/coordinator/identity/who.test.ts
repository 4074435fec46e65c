/** Authorization on both stores; and two coordinators of one store, with and without a bus between them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { uncheckedSubject } from '../../../src/coordinator/bus/bus.js'
import { createInProcessBus } from '../../../src/coordinator/bus/in-process.js'
import { eventually } from '../../support/eventually.js'
import { startPostgres } from '../../support/postgres.js'
import { basic } from '../../support/http-call.js'
import { administrator, type Controller } from '../../support/start-controller.js'
import { grantContract } from './grants.contract.js'
import {
  idOf,
  password,
  rows,
  startTenants,
  type Json,
  type Person,
  type Tenants,
} from './people.js'
import { quotasContract } from './quotas.contract.js'
import { whoContract } from './who.contract.js'

void t.test('on SQLite', (t) => {
  const store = { storeUrl: () => Promise.resolve('sqlite::memory:') }
  whoContract(t, store)
  quotasContract(t, store)
  grantContract(t, store)
  t.end()
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  const store = { storeUrl: () => postgres.storeUrl() }
  await t.test('organizations, accounts and quotas', (t) => {
    whoContract(t, store)
    quotasContract(t, store)
    t.end()
  })
  await t.test('grants', (t) => {
    grantContract(t, store)
    t.end()
  })
  await t.test('a change on one coordinator takes effect on the other within 5 s', async (t) => {
    await actsElsewhere(t, await postgres.storeUrl())
  })
})

void t.test('on SQLite a change of one process affects another within 5 s', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cachefleet-who-'))
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  await actsElsewhere(t, `sqlite:${join(folder, 'coordinator.db')}`)
})

interface Change {
  readonly name: string
  /** The status that bert's token gets afterwards. */
  readonly status: number
  readonly make: (tenants: Tenants, ids: Ids) => Promise<unknown>
}

interface Ids {
  readonly red: number
  readonly account: number
  readonly user: number
  readonly permission: number
  readonly session: number
}

const changes: readonly Change[] = [
  {
    name: 'a permission is taken back',
    status: 403,
    make: ({ system }, { permission }) => system.call(204, 'DELETE', `/permissions/${permission}`),
  },
  {
    name: 'a session is deleted',
    status: 401,
    make: ({ system }, { session }) => system.call(204, 'DELETE', `/sessions/${session}`),
  },
  {
    name: 'the account is locked',
    status: 401,
    make: ({ system }, { account }) =>
      system.call(200, 'PUT', `/accounts/${account}`, { locked: true }),
  },
  {
    name: 'the account is unassigned',
    status: 401,
    make: ({ system }, { red, account }) =>
      system.call(200, 'PUT', `/organizations/${red}/unassign`, { account: { id: account } }),
  },
  {
    name: 'the user is deleted',
    status: 401,
    make: ({ system }, { user }) => system.call(204, 'DELETE', `/users/${user}`),
  },
  {
    name: 'the account is deleted',
    status: 401,
    make: ({ system }, { account }) => system.call(204, 'DELETE', `/accounts/${account}`),
  },
  {
    name: 'the password is set',
    status: 401,
    make: ({ system }, { account }) =>
      system.call(200, 'PUT', `/accounts/${account}`, { password: 'a new long password' }),
  },
  {
    name: 'the organization is locked',
    status: 401,
    make: ({ system }, { red }) =>
      system.call(200, 'PUT', `/organizations/${red}`, { locked: true }),
  },
]

/** Each coordinator has its own bus, so no hint passes: cached rights expire in less than 5 s. */
async function actsElsewhere(t: Test, storeUrl: string): Promise<void> {
  const stateDir = t.testdir()
  const tenants = await startTenants(t, { stateDir, storeUrl })
  const other = await startTenants(t, { stateDir, storeUrl })
  for (const [number, { name, status, make }] of changes.entries())
    await t.test(name, async (t) => {
      const { bert, ids } = await settle(tenants, `red-${number}`, `bert-${number}`)
      const tagsElsewhere = async (): Promise<number> => {
        const options = { token: bert.token }
        return (await other.controller.call('GET', '/api/v1/tags', options)).status
      }
      t.equal(await tagsElsewhere(), 200)

      await make(tenants, ids)

      other.controller.advance(4_900)
      t.equal(await tagsElsewhere(), status)
      await eventually('it takes effect where it was made', async () => {
        const options = { token: bert.token }
        return (await tenants.controller.call('GET', '/api/v1/tags', options)).status === status
      })
    })
}

async function settle(
  tenants: Tenants,
  organization: string,
  name: string,
): Promise<{ readonly bert: Person; readonly ids: Ids }> {
  const { system } = tenants
  const red = await tenants.makeOrganization(organization)
  await tenants.addPerson(`anna of ${organization}`, organization)
  const bert = await tenants.addPerson(name, organization)
  const account = { id: bert.id }
  const permission = await system.call(201, 'POST', '/permissions', {
    account,
    type: 'tag',
    organization: { id: red },
  })
  const one = async (path: string): Promise<Json | undefined> =>
    rows(await system.call(200, 'GET', `${path}?account.id=${bert.id}`))[0]
  return {
    bert: await tenants.openSession(name, organization),
    ids: {
      red,
      account: bert.id,
      user: idOf(await one('/users')),
      permission: idOf(permission),
      session: idOf(
        rows(await system.call(200, 'GET', `/sessions?sort=id:desc&account.id=${bert.id}`))[0],
      ),
    },
  }
}

void t.test('with a shared bus a change takes effect on the other at once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cachefleet-who-'))
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  const bus = createInProcessBus()
  t.teardown(() => bus.close())
  const shared = { bus, stateDir: folder, storeUrl: `sqlite:${join(folder, 'coordinator.db')}` }
  const tenants = await startTenants(t, shared)
  const other = await startTenants(t, shared)
  // The clock of the other coordinator stands still, so nothing that it has cached expires.
  const at = other.controller.service.now()
  Object.assign(other.controller.service, { now: () => at })
  for (const [number, { name, status, make }] of changes.entries()) {
    const { bert, ids } = await settle(tenants, `red-${number}`, `bert-${number}`)
    const tagsElsewhere = async (): Promise<number> => {
      const options = { token: bert.token }
      return (await other.controller.call('GET', '/api/v1/tags', options)).status
    }
    t.equal(await tagsElsewhere(), 200)
    await make(tenants, ids)
    await eventually(name, async () => (await tagsElsewhere()) === status)
  }
})

void t.test('coordinators count failed logins together', async (t) => {
  const bus = createInProcessBus()
  t.teardown(() => bus.close())
  const one = await startTenants(t, { bus })
  const two = await startTenants(t, { bus })
  const wrong = { headers: { authorization: basic(administrator.user, 'not the right one') } }
  const right = { headers: { authorization: basic(administrator.user, administrator.password) } }
  const tryAt = async ({ controller }: Tenants, options: { headers: Record<string, string> }) =>
    (await controller.call('POST', '/api/v1/auth/login', options)).status

  for (let count = 0; count < 5; count++) {
    t.equal(await tryAt(one, wrong), 401)
    t.equal(await tryAt(two, wrong), 401)
  }

  for (const tenants of [one, two])
    await eventually('both refuse', async () => (await tryAt(tenants, right)) === 429)
  one.controller.advance(301_000)
  two.controller.advance(301_000)
  t.equal(await tryAt(one, right), 200)
})

void t.test('malformed messages on the bus do not count as failures', async (t) => {
  const bus = createInProcessBus()
  t.teardown(() => bus.close())
  const { controller } = await startTenants(t, { bus })
  for (const value of [null, 7, {}, { failed: 'x' }, { origin: 'a', failed: [7, 'short'] }])
    bus.publish(uncheckedSubject('login.attempt'), value)

  t.equal(await loginStatus(controller), 200)
})

async function loginStatus(controller: Controller): Promise<number> {
  const headers = { authorization: basic(administrator.user, administrator.password) }
  return (await controller.call('POST', '/api/v1/auth/login', { headers })).status
}

void t.test('an account name may hold anything that a login can send', async (t) => {
  const { system, makeOrganization, login } = await startTenants(t)
  const red = await makeOrganization('red')
  for (const name of ['Анна', 'a b', '日本', 'a'.repeat(255)]) {
    await system.call(201, 'POST', '/accounts', { name, password, organization: { id: red } })
    t.equal((await login(name, 'red')).status, 200, name)
  }
})
