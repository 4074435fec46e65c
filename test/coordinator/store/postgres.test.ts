/** The store on PostgreSQL: the contracts, and what only a server can do: go away, hold locks, serve several coordinators. */
import { sql } from 'kysely'
import { Client } from 'pg'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import type { Queries, Store } from '../../../src/coordinator/store/store.js'
import { eventually } from '../../support/eventually.js'
import { startPostgres } from '../../support/postgres.js'
import { adoptionsContract } from './adoptions.contract.js'
import { apiLogsContract } from './api-logs.contract.js'
import { backendsContract } from './backends.contract.js'
import { changesContract } from './changes.contract.js'
import { consoleGroupsContract } from './console-groups.contract.js'
import { gatheredReadsContract } from './gathered-reads.contract.js'
import { leasesContract } from './leases.contract.js'
import { settingsContract } from './engine-settings.contract.js'
import { invalidationsContract } from './invalidations.contract.js'
import { listContract } from './list.contract.js'
import { quotasContract } from './quotas.contract.js'
import { rowsContract } from './rows.contract.js'
import { addTag } from './rows.js'
import { historyContract } from './history.contract.js'
import { releasedStoresContract } from './released-stores.js'
import { placementsContract } from './placements.contract.js'
import { replacedPlacesContract } from './replaced-placements.contract.js'
import { stagesContract } from './stages.contract.js'
import { storeContract } from './store.contract.js'

const log = pino({ level: 'silent' })
const server = await startPostgres(t)

async function open(t: Test, url: string): Promise<Store> {
  const store = await openStore(url, log)
  t.teardown(() => store.close())
  return store
}

void t.test('the contracts of every store', (t) => {
  const factory = { open: async (t: Test) => open(t, await server.storeUrl()) }
  storeContract(t, factory)
  gatheredReadsContract(t, factory)
  rowsContract(t, factory)
  listContract(t, factory)
  settingsContract(t, factory)
  invalidationsContract(t, factory)
  stagesContract(t, factory)
  historyContract(t, factory)
  changesContract(t, factory)
  placementsContract(t, factory)
  replacedPlacesContract(t, factory)
  adoptionsContract(t, factory)
  consoleGroupsContract(t, factory)
  quotasContract(t, factory)
  const analyze = (queries: Queries) => sql`analyze "apiLogs"`.execute(queries)
  backendsContract(t, factory)
  apiLogsContract(t, { ...factory, explain: 'explain', analyze })
  t.end()
})

void t.test('of a release', (t) => {
  releasedStoresContract(t, {
    database: 'postgres',
    restore: async (_, statements) => {
      const url = await server.url()
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query(statements)
      await client.end()
      return url
    },
    open,
    openNew: async (t) => open(t, await server.url()),
    descriptions: `select indexname as name, indexdef as sql from pg_indexes where schemaname = 'public'
      union all select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by name, sql`,
  })
  t.end()
})

void t.test('between several coordinators', (t) => {
  leasesContract(t, { open: async (t) => open(t, await server.storeUrl()) })
  t.end()
})

void t.test('coordinators that start at once create the tables once', async (t) => {
  const url = await server.url()

  const stores = await Promise.all(Array.from({ length: 5 }, () => open(t, url)))

  await Promise.all(stores.map((store) => store.check()))
  const [first] = stores
  t.ok((await sql`select * from migrations`.execute(queriesOf(first))).rows.length > 0)
})

void t.test('decisions of several coordinators do not overwrite each other', async (t) => {
  const url = await server.storeUrl()
  const stores = await Promise.all([open(t, url), open(t, url), open(t, url)])
  const [first] = stores
  await queriesOf(first).insertInto('settings').values({ name: 'count', value: '0' }).execute()

  await Promise.all(
    Array.from({ length: 20 }, () => stores.map((store) => store.decide(countOne))).flat(),
  )

  const row = await queriesOf(first).selectFrom('settings').select('value').executeTakeFirst()
  t.equal(row?.value, '60')
})

void t.test('many waiting decisions leave connections for everything else', async (t) => {
  const url = await server.storeUrl()
  const [held, other] = await Promise.all([open(t, url), open(t, url)])
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  let heldNow = false
  const holding = held.decide(async () => {
    heldNow = true
    await released
  })
  await eventually('the lock is held', () => heldNow)

  const waiting = Array.from({ length: 40 }, (_, at) =>
    other.decide((queries) => addTag(queries, `tag-${at}`)),
  )
  await Promise.all(Array.from({ length: 40 }, () => other.check()))

  t.strictSame(await other.queries.selectFrom('tags').selectAll().execute(), [])
  release()
  await Promise.all([holding, ...waiting])
  t.equal((await other.queries.selectFrom('tags').selectAll().execute()).length, 40)
})

void t.test('transactions that deadlock both succeed', async (t) => {
  const store = await open(t, await server.storeUrl())
  const ids = await Promise.all(['a', 'b'].map((name) => addTag(store.queries, name)))
  let arrived = 0
  const touch = async (queries: Queries, order: readonly number[]) => {
    for (const [at, id] of order.entries()) {
      await queries.updateTable('tags').set({ updatedAt: id }).where('id', '=', id).execute()
      if (at === 0) {
        arrived++
        // Only the first round meets: the transaction that is retried finds both arrived.
        await eventually('both hold one row', () => arrived >= 2)
      }
    }
  }

  await Promise.all([
    store.transaction((queries) => touch(queries, ids)),
    store.transaction((queries) => touch(queries, ids.toReversed())),
  ])

  t.ok(arrived >= 3, 'one of them was retried')
})

void t.test(
  'a server that goes away is unavailable, and the store recovers when it returns',
  async (t) => {
    const url = await server.storeUrl()
    const store = await open(t, url)
    const kept = await addTag(store.queries, 'kept')
    const lost = {
      kind: 'unavailable',
      errorKey: 'store',
      message: /^the store does not answer: /,
    }

    const inside = store.decide(async (queries) => {
      await addTag(queries, 'lost')
      await server.stop()
      await queries.selectFrom('tags').selectAll().execute()
    })
    await t.rejects(inside, lost)
    await t.rejects(addTag(store.queries, 'lost'), lost)
    await t.rejects(store.check(), lost)
    await t.rejects(openStore(url, log), lost)

    await server.start()
    await store.check()
    t.strictSame(await store.queries.selectFrom('tags').select(['id', 'name']).execute(), [
      { id: kept, name: 'kept' },
    ])
    t.ok(await store.decide((queries) => addTag(queries, 'again')))
  },
)

void t.test('a connection that an operator ends causes one error at most', async (t) => {
  const store = await open(t, await server.storeUrl())

  const ended = store.transaction((queries) =>
    sql`select pg_terminate_backend(pg_backend_pid())`.execute(queries),
  )

  await t.rejects(ended, { name: 'FleetError', kind: 'unavailable' })
  t.ok(await addTag(store.queries, 'after'))
})

void t.test('refuses a store written by a newer version', async (t) => {
  const url = await server.storeUrl()
  const store = await openStore(url, log)
  await sql`insert into migrations values ('0999-later', 0)`.execute(store.queries)
  await store.close()

  await t.rejects(openStore(url, log), {
    kind: 'invalid',
    errorKey: 'store',
    message: /newer version.*0999-later.*knows up to \d{4}-/,
  })
})

void t.test('refuses a database that is not Unicode, and reveals no password', async (t) => {
  const store = await open(t, await server.url())
  await sql`create database latin encoding 'LATIN1' locale_provider libc locale 'C' template template0`.execute(
    store.queries,
  )
  const latin = (await server.url()).replace(/\/[^/]*$/, '/latin').replace('unused', 'hunter2')

  await t.rejects(openStore(latin, log), {
    kind: 'unavailable',
    message: /LATIN1; it must be UTF8/,
  })
  for (const url of [
    latin.replace('/latin', '/nowhere'),
    'postgres://u:hunter2@[',
    'mysql://u:hunter2@h/d',
  ]) {
    const error = await openStore(url, log).catch((caught: unknown) => caught)
    t.match(error, { name: 'FleetError', errorKey: 'store' })
    t.notMatch(String(error), /hunter2/)
  }
})

async function countOne(queries: Queries): Promise<void> {
  const { value } = await queries.selectFrom('settings').select('value').executeTakeFirstOrThrow()
  await queries
    .updateTable('settings')
    .set({ value: String(Number(value) + 1) })
    .execute()
}

function queriesOf(store: Store | undefined): Queries {
  if (store === undefined) throw new Error('no store')
  return store.queries
}
