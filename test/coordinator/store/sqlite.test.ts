/** The store on SQLite: the contracts in memory and in a file, and what is specific to SQLite. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CompiledQuery, sql } from 'kysely'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { BetterSqlite3 } from '../../../src/coordinator/store/sqlite-library.js'
import { endPlacementWaits } from '../../../src/coordinator/fleet/condition-queries.js'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import {
  readBeingReplaced,
  releaseReplaced,
  takeReplaced,
} from '../../../src/coordinator/fleet/replaced-placements.js'
import type { Queries, Store } from '../../../src/coordinator/store/store.js'
import { root } from '../../support/root.js'
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
const counter = join(root, 'test/coordinator/store/count-decisions.mjs')

async function open(t: Test, url: string): Promise<Store> {
  const store = await openStore(url, log)
  t.teardown(() => store.close())
  return store
}

/** A folder for each run, so that parallel runs do not meet. */
function folderFor(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'cachefleet-sqlite-'))
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

const urlIn = (folder: string): string => `sqlite:${join(folder, 'coordinator.db')}`

void t.test('in memory', (t) => {
  const factory = { open: (t: Test) => open(t, 'sqlite::memory:') }
  storeContract(t, factory)
  gatheredReadsContract(t, factory)
  rowsContract(t, factory)
  listContract(t, factory)
  settingsContract(t, factory)
  leasesContract(t, factory)
  invalidationsContract(t, factory)
  stagesContract(t, factory)
  historyContract(t, factory)
  changesContract(t, factory)
  placementsContract(t, factory)
  replacedPlacesContract(t, factory)
  adoptionsContract(t, factory)
  consoleGroupsContract(t, factory)
  quotasContract(t, factory)
  backendsContract(t, factory)
  apiLogsContract(t, { ...factory, explain: 'explain query plan' })
  t.end()
})

void t.test('with nothing replaced or waiting, no decision scans the fleet', async (t) => {
  const { queries } = await open(t, 'sqlite::memory:')
  const asked: CompiledQuery[] = []
  const noted = queries.withPlugin({
    transformQuery: ({ node, queryId }) => {
      asked.push(queries.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  })
  const manyAgents = Array.from({ length: 3_000 }, (_, at) => at + 1)
  await takeReplaced(noted, 1, manyAgents)
  t.equal(asked.length, 1, 'one small statement, however many agents have switched')
  await releaseReplaced(noted)
  await readBeingReplaced(noted)
  await endPlacementWaits(noted, new Set())
  t.equal(asked.length, 4)
  for (const { sql: text, parameters } of asked) {
    const explained = CompiledQuery.raw(`explain query plan ${text}`, [...parameters])
    const { rows } = await queries.executeQuery<{ detail: string }>(explained)
    const plan = rows.map(({ detail }) => detail).join('\n')
    t.match(plan, /placements_replaced|agents_unplaced/, text)
    t.notMatch(plan, /SCAN (placements|agents)(?! USING .*(_replaced|_unplaced))/, text)
  }
})

void t.test('in a file', (t) => {
  const factory = { open: (t: Test) => open(t, urlIn(folderFor(t))) }
  storeContract(t, factory)
  gatheredReadsContract(t, factory)
  rowsContract(t, factory)
  t.end()
})

void t.test('of a release', (t) => {
  releasedStoresContract(t, {
    database: 'sqlite',
    restore: (t, statements) => {
      const folder = folderFor(t)
      new BetterSqlite3(join(folder, 'coordinator.db')).exec(statements).close()
      return Promise.resolve(urlIn(folder))
    },
    open,
    openNew: (t) => open(t, 'sqlite::memory:'),
    descriptions: `select name, sql from sqlite_master where type in ('index', 'trigger') order by name`,
  })
  t.end()
})

void t.test('keeps rows, ids and tables over a restart', async (t) => {
  const url = urlIn(folderFor(t))
  const before = await openStore(url, log)
  const first = await addTag(before.queries, 'first')
  const gone = await addTag(before.queries, 'gone')
  await before.queries.deleteFrom('tags').where('id', '=', gone).execute()
  await before.close()

  const after = await open(t, url)

  t.ok((await addTag(after.queries, 'next')) > gone, 'an id is not reused')
  t.strictSame(
    await after.queries.selectFrom('tags').select('id').where('id', '=', first).execute(),
    [{ id: first }],
  )
})

void t.test('is readable by its owner only, and SQLite syncs single statements', async (t) => {
  const folder = folderFor(t)
  const store = await open(t, urlIn(folder))
  const { queries } = store
  const readPragma = async (on: Queries, name: string): Promise<unknown> => {
    const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(on)
    return Object.values(rows[0] ?? {})[0]
  }
  await addTag(queries, 'x')
  await t.rejects(store.decide(() => Promise.reject(new Error('no')), { durable: false }))
  const files = readdirSync(folder)
  const pragmas = await Promise.all(
    ['journal_mode', 'synchronous', 'foreign_keys'].map((name) => readPragma(queries, name)),
  )

  t.ok(files.includes('coordinator.db-wal'))
  for (const file of files) t.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
  t.strictSame(pragmas, ['wal', 2, 1])
})

void t.test('decisions of two processes do not overwrite each other', async (t) => {
  const url = urlIn(folderFor(t))
  const store = await open(t, url)
  await store.queries.insertInto('settings').values({ name: 'count', value: '0' }).execute()

  const run = promisify(execFile)
  await Promise.all([1, 2].map(() => run(process.execPath, [counter, url, '100'])))

  const row = await store.queries.selectFrom('settings').select('value').executeTakeFirst()
  t.equal(row?.value, '200')
})

void t.test('another process that holds the store blocks nothing else', async (t) => {
  const folder = folderFor(t)
  const store = await open(t, urlIn(folder))
  const other = new BetterSqlite3(join(folder, 'coordinator.db'))
  t.teardown(() => other.close())
  other.exec('begin immediate')
  let done = 0
  const work = [
    store.transaction((queries) => addTag(queries, 'together')),
    store.decide((queries) => addTag(queries, 'decided')),
    addTag(store.queries, 'alone'),
  ].map((one) => one.then(() => (done += 1)))

  await new Promise((resume) => setTimeout(resume, 50))
  t.equal(done, 0, 'they wait, and the event loop runs')
  other.exec('commit')

  await Promise.all(work)
  t.equal((await store.queries.selectFrom('tags').select('id').execute()).length, 3)
})

void t.test('closes once the running transaction has ended', async (t) => {
  const url = urlIn(folderFor(t))
  const store = await openStore(url, log)

  const work = store.transaction(async (queries) => {
    await new Promise((resume) => setImmediate(resume))
    await addTag(queries, 'last')
  })
  await Promise.all([work, store.close()])

  const again = await open(t, url)
  t.equal((await again.queries.selectFrom('tags').select('id').execute()).length, 1)
})

void t.test('reports why it cannot be opened', async (t) => {
  const folder = folderFor(t)
  writeFileSync(join(folder, 'other.db'), 'this is something else, and long enough to be read')
  const path = join(folder, 'newer.db')
  const newer = await openStore(`sqlite:${path}`, log)
  await sql`insert into migrations values ('0999-later', 0)`.execute(newer.queries)
  await newer.close()
  new BetterSqlite3(join(folder, 'early.db'))
    .exec(
      `create table migrations (name text not null primary key, "ranAt" integer not null) strict;
       insert into migrations values ('0001-initial', 0), ('0085-waiting-rows', 0)`,
    )
    .close()
  const refusals: [string, string, RegExp][] = [
    [`sqlite:${folder}/early.db`, 'invalid', /before release 0\.1\.0 .*0085-waiting-rows/],
    [`sqlite:${folder}/none/x.db`, 'unavailable', /cannot open the store .*none\/x\.db: ENOENT/],
    [`sqlite:${folder}`, 'unavailable', /EISDIR/],
    [`sqlite:${folder}/other.db`, 'unavailable', /not a database/],
    [`sqlite:${path}`, 'invalid', /newer version.*0999-later.*knows up to \d{4}-/],
    ['sqlite:', 'invalid', /sqlite:<path>/],
    ['', 'invalid', /sqlite:<path>/],
    ['mysql://user:hunter2@host/x', 'invalid', /^(?!.*hunter2).*sqlite:<path>/],
  ]

  for (const [url, kind, message] of refusals)
    await t.rejects(openStore(url, log), { kind, errorKey: 'store', message }, url)
})

void t.test(
  'a full disk is unavailable, nothing is written in part, and the store recovers',
  async (t) => {
    const store = await open(t, urlIn(folderFor(t)))
    const { queries } = store
    const kept = await addTag(queries, 'kept')
    const [pages] = (await sql<{ page_count: number }>`pragma page_count`.execute(queries)).rows
    const limit = (pageCount: number) =>
      sql.raw(`pragma max_page_count = ${pageCount}`).execute(queries)

    await limit((pages?.page_count ?? 0) + 2)
    const filling = store.transaction(async (inside) => {
      for (let at = 0; at < 1000; at++) await addTag(inside, `${at}`.padEnd(255, 'x'))
    })

    await t.rejects(filling, { kind: 'unavailable', errorKey: 'store', message: /full/ })
    t.strictSame(await queries.selectFrom('tags').select('id').execute(), [{ id: kept }])
    await limit(1_000_000)
    t.ok(await addTag(queries, 'again'))
  },
)

void t.test('concurrent transactions share a commit, and each fails alone', async (t) => {
  const url = urlIn(folderFor(t))
  const store = await open(t, url)
  const other = await open(t, url)
  const seen: number[] = []
  const add = (name: string, after: () => Promise<unknown> = () => Promise.resolve()) =>
    store.transaction(async (inside) => {
      await addTag(inside, name)
      await after()
      seen.push((await other.queries.selectFrom('tags').select('id').execute()).length)
    })

  const refused = new Error('refused')
  const results = await Promise.allSettled([
    add('first'),
    add('refused', () => Promise.reject(refused)),
    add('first'), // the name is taken
    add('last'),
  ])

  t.match(results, [
    { status: 'fulfilled' },
    { status: 'rejected', reason: refused },
    { status: 'rejected' },
    { status: 'fulfilled' },
  ])
  t.same(seen, [0, 0], 'no other connection saw the first before the last had ended')
  const tags = await other.queries.selectFrom('tags').select('name').orderBy('name').execute()
  t.same(tags, [{ name: 'first' }, { name: 'last' }])
})

void t.test(
  'when the disk is full, the answered transactions of a shared commit are kept',
  async (t) => {
    const store = await open(t, urlIn(folderFor(t)))
    const { queries } = store
    const [pages] = (await sql<{ page_count: number }>`pragma page_count`.execute(queries)).rows
    const limit = (pageCount: number) =>
      sql.raw(`pragma max_page_count = ${pageCount}`).execute(queries)
    const fill = async (inside: Queries): Promise<void> => {
      for (let at = 0; at < 1000; at++) await addTag(inside, `${at}`.padEnd(255, 'x'))
    }

    await limit((pages?.page_count ?? 0) + 2)
    const results = await Promise.allSettled([
      store.transaction((inside) => addTag(inside, 'before')),
      store.transaction(fill),
      store.transaction((inside) => addTag(inside, 'behind')),
    ])

    t.match(results[1], { status: 'rejected', reason: { kind: 'unavailable', message: /full/ } })
    const answered = ['before', 'filling', 'behind'].filter(
      (_, at) => results[at]?.status === 'fulfilled',
    )
    const tags = await queries.selectFrom('tags').select('name').orderBy('id').execute()
    t.same(
      tags.map(({ name }) => name),
      answered,
    )
    await limit(1_000_000)
    t.ok(await store.transaction((inside) => addTag(inside, 'later')), 'later ones succeed')
  },
)
