/** `cachefleetd migrate`: a store moves from SQLite to PostgreSQL completely or not at all. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import t from 'tap'
import { BetterSqlite3 } from '../../../src/coordinator/store/sqlite-library.js'
import { logIn } from '../../support/api-client.js'
import {
  administrator,
  makeStateDir,
  runDaemon,
  startCoordinator,
  startDaemon,
} from '../../support/daemon.js'
import { eventually } from '../../support/eventually.js'
import { findFreePort } from '../../support/free-port.js'
import { startPostgres } from '../../support/postgres.js'
import { root } from '../../support/root.js'
import { openSqlite } from '../../../src/coordinator/store/sqlite.js'

const postgres = await startPostgres(t)

async function ask(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

void t.test('a coordinator continues in PostgreSQL with everything that it had', async (t) => {
  const coordinator = await startCoordinator(t)
  const { api, stateDir } = coordinator
  const file = join(stateDir, 'coordinator.db')
  const [tag, gone] = [await api.makeTag('kept'), await api.makeTag('gone')]
  t.equal((await api.call('DELETE', `/tags/${gone}`)).status, 204)
  const source = 'vcl 4.1;\nbackend default none;\n# ünïcode "\' \\ \n'
  await api.makeFile('main.vcl', source)
  const url = await postgres.url()
  const words = ['migrate', '--from', `sqlite:${file}`]
  t.match(await runDaemon([...words, '--to', url]), { code: 1, errors: /a coordinator runs/ })
  t.same(
    await ask(url, 'select 1 from information_schema.tables where table_schema = current_schema()'),
    [],
  )
  await coordinator.daemon.stop()

  const ran = await runDaemon(words, { environment: { CACHEFLEET_STORE: url } })
  t.match(ran, { code: 0, errors: '', output: /^\d{2,} rows of \d+ tables are copied/ })
  t.match(await runDaemon([...words, '--to', url]), { code: 1, errors: /the target is not empty/ })

  const port = await findFreePort()
  startDaemon(t, [
    ...['--coordinator', '--no-agent', '--state-dir', stateDir, '--store', url],
    ...['--listen', `127.0.0.1:${port}`],
  ])
  const there = await eventually('the coordinator is ready', () =>
    logIn(`http://127.0.0.1:${port}`, administrator),
  )
  t.equal((await there.call('GET', '/tags')).status, 200)
  t.equal((await api.call('GET', '/tags').catch(() => null))?.status ?? 'away', 'away')
  t.equal(await there.findTag('kept'), tag)
  const files = JSON.parse((await there.call('GET', '/files')).text) as { readonly id: number }[]
  const read = JSON.parse((await there.call('GET', `/files/${files[0]?.id}`)).text) as object
  t.match(read, { name: 'main.vcl', source, version: 1 })
  t.ok((await there.makeTag('next')) > gone, 'the id of a deleted tag is not reused')
})

void t.test('a store of release 0.1.0 is copied table by table', async (t) => {
  const folder = await makeStateDir(t)
  const file = join(folder, 'kept.db')
  new BetterSqlite3(file)
    .exec(readFileSync(join(root, 'test/fixtures/stores/0.1.0/sqlite.sql'), 'utf8'))
    .close()
  const url = await postgres.url()
  const ran = await runDaemon(['migrate', '--from', `sqlite:${file}`, '--to', url])
  t.match(ran, { code: 0 }, ran.errors)
  const store = openSqlite(file)
  t.teardown(() => store.close())
  const { rows: tables } = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`.execute(
    store.queries,
  )
  t.ok(tables.length > 30)
  for (const { name } of tables) {
    const { rows } = await sql<{
      count: number
    }>`select count(*) as count from ${sql.table(name)}`.execute(store.queries)
    t.match(await ask(url, `select count(*)::int as count from "${name}"`), rows, name)
  }
})

void t.test('a failed copy leaves nothing behind', async (t) => {
  const coordinator = await startCoordinator(t)
  await coordinator.daemon.stop()
  const file = join(coordinator.stateDir, 'coordinator.db')
  const store = openSqlite(file)
  // PostgreSQL cannot hold this text.
  await store.queries.insertInto('settings').values({ name: 'zero', value: 'a\0b' }).execute()
  await store.close()
  const url = await postgres.url()
  const ran = await runDaemon(['migrate', '--from', `sqlite:${file}`, '--to', url])
  t.match(ran, { code: 1, errors: /^cachefleetd: / })
  t.same(
    await ask(url, 'select 1 from information_schema.tables where table_schema = current_schema()'),
    [],
  )
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [['--from', `sqlite:${file}.none`, '--to', url], /there is no store/],
    [['--from', url, '--to', `sqlite:${file}`], /usage: cachefleetd migrate/],
    [['--from', `sqlite:${file}`], /usage: cachefleetd migrate/],
  ]
  for (const [words, message] of rows)
    t.match(await runDaemon(['migrate', ...words]), { code: 78, errors: message })
})
