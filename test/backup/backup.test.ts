/** A running coordinator is backed up; a restore yields a coordinator or changes nothing. */
import { spawn } from 'node:child_process'
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { geteuid } from 'node:process'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { openCa } from '../../src/coordinator/tls/own-ca.js'
import { openSqlite } from '../../src/coordinator/store/sqlite.js'
import { logIn } from '../support/api-client.js'
import { parallel } from '../support/parallel.js'
import {
  administrator,
  makeStateDir,
  runDaemon,
  startCoordinator,
  type CoordinatorProcess,
  type RanDaemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startPostgres } from '../support/postgres.js'
import { root } from '../support/root.js'

const passphrase = 'a word that nobody guesses'
const nobody = 65_534

t.jobs = 3

function backUp(file: string, words: readonly string[], input = passphrase): Promise<RanDaemon> {
  return runDaemon(['backup', file, ...words], { input })
}

function restore(file: string, words: readonly string[], input = passphrase): Promise<RanDaemon> {
  return runDaemon(['restore', file, ...words], { input })
}

interface Kept {
  readonly coordinator: CoordinatorProcess
  readonly file: string
  readonly folder: string
}

/** A coordinator with a tag and a CA, and its backup. */
async function keepOne(t: Test): Promise<Kept> {
  const [coordinator, folder] = await Promise.all([startCoordinator(t), makeStateDir(t)])
  await coordinator.api.makeTag('kept')
  await openCa(coordinator.stateDir, null, Date.now())
  const file = join(folder, 'fleet.backup')
  const ran = await backUp(file, ['--state-dir', coordinator.stateDir])
  t.match(ran, { code: 0, errors: '', output: /the store, the secret key, and the CA, encrypted/ })
  return { coordinator, file, folder }
}

void t.test('a backup restores the coordinator', parallel(), async (t) => {
  const { coordinator, file } = await keepOne(t)
  await coordinator.api.makeJoinToken()
  await coordinator.api.makeTag('later')
  const later = `${file}.later`
  t.equal((await backUp(later, ['--state-dir', coordinator.stateDir])).code, 0)
  t.equal((await stat(file)).mode & 0o777, 0o600)
  const names = await readdir(coordinator.stateDir)
  t.notOk(
    names.some((name) => name.startsWith('backup')),
    'the copy of the store is removed',
  )
  const ca = await readFile(join(coordinator.stateDir, 'ca.pem'), 'utf8')
  await coordinator.daemon.stop()
  await rename(coordinator.stateDir, `${coordinator.stateDir}.lost`)
  t.teardown(() => rm(`${coordinator.stateDir}.lost`, { recursive: true, force: true }))

  const words = ['--state-dir', coordinator.stateDir]
  const passphraseFile = join(file, '..', 'passphrase')
  await writeFile(passphraseFile, `${passphrase}\n`)
  const ran = await restore(later, [...words, '--passphrase-file', passphraseFile], '')
  t.match(ran, {
    code: 0,
    errors: '',
    output: /its sessions and API tokens \(\d+\) and all its join tokens/,
  })
  t.equal(await readFile(join(coordinator.stateDir, 'ca.pem'), 'utf8'), ca)
  const { base, api, stateDir } = coordinator
  const modes = await Promise.all(
    (await readdir(stateDir)).map(async (name) => (await stat(join(stateDir, name))).mode & 0o777),
  )
  t.same(new Set(modes), new Set([0o600]))

  await coordinator.start()
  t.equal((await api.call('GET', '/tags')).status, 401, 'sessions of the backup have ended')
  const again = await logIn(base, administrator)
  const tags = JSON.parse((await again.call('GET', '/tags')).text) as { readonly name: string }[]
  t.same(tags.map(({ name }) => name).toSorted(), ['kept', 'later'])
  t.same(JSON.parse((await again.call('GET', '/jointokens')).text), [])
  t.match(await restore(later, words), { code: 1, errors: /is not empty/ }, 'a second restore')
})

void t.test('a backup during writes is consistent', parallel(), async (t) => {
  const [coordinator, folder] = await Promise.all([startCoordinator(t), makeStateDir(t)])
  const writer = spawn(process.execPath, [
    join(root, 'test/backup/store-writer.mjs'),
    join(coordinator.stateDir, 'coordinator.db'),
  ])
  t.teardown(() => writer.kill('SIGKILL'))
  let printed = ''
  writer.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  writer.stderr.pipe(process.stderr)
  const count = (): number => Number(printed.trim().split('\n').at(-1))
  await eventually('the writer writes', () => Promise.resolve(count() > 500))
  const calls = writeByApi(coordinator)
  const [from, fromMs] = [count(), performance.now()]

  for (const round of [1, 2]) {
    const before = count()
    const answered = [...calls.answered]
    const file = join(folder, `${round}.backup`)
    t.match(await backUp(file, ['--state-dir', coordinator.stateDir]), { code: 0 })
    const stateDir = join(folder, `restored-${round}`)
    t.match(await restore(file, ['--state-dir', stateDir]), { code: 0 })
    const { total, last, tags, damage } = await readWritten(join(stateDir, 'coordinator.db'))
    t.same(damage, ['ok'])
    t.equal(total, last, 'all transactions, each complete')
    t.same(
      answered.filter((name) => !tags.has(name)),
      [],
      `${answered.length} calls that were answered before`,
    )
    t.ok(last >= before, `${last} of at least ${before}`)
    await eventually('it continues writing', () => Promise.resolve(count() > last))
    await eventually('calls continue', () => Promise.resolve(calls.answered.size > answered.length))
  }
  const seconds = (performance.now() - fromMs) / 1000
  t.comment(`${Math.round((count() - from) / seconds)} transactions a second meanwhile`)
  writer.stdin.end()
  await calls.stop()
})

/** Writing API calls in sequence, so that the coordinator writes while the other process does. */
function writeByApi({ api }: CoordinatorProcess) {
  const answered = new Set<string>()
  let isOver = false
  const write = async (): Promise<void> => {
    for (let number = 1; !isOver; number++) {
      await api.makeTag(`written-${number}`)
      answered.add(`written-${number}`)
    }
  }
  const writing = write()
  return {
    answered,
    stop: async (): Promise<void> => {
      isOver = true
      await writing
    },
  }
}

/** `damage`: SQLite's findings about the file, and rows that refer to missing ones. */
async function readWritten(file: string) {
  const { queries, close } = openSqlite(file)
  const { rows: pages } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(
    queries,
  )
  const { rows: references } = await sql<object>`pragma foreign_key_check`.execute(queries)
  const tags = await queries.selectFrom('tags').select('name').execute()
  const rows = await queries
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'like', 'written%')
    .execute()
  await close()
  const last = Number(rows.find(({ name }) => name === 'written')?.value)
  return {
    total: rows.length - 1,
    last,
    tags: new Set(tags.map(({ name }) => name)),
    damage: [
      ...pages.map(({ integrity_check: found }) => found),
      ...references.map((row) => JSON.stringify(row)),
    ],
  }
}

void t.test('an error is one line, and nothing is written', parallel(), async (t) => {
  const { coordinator, file, folder } = await keepOne(t)
  const whole = await readFile(file)
  const changed = Buffer.from(whole)
  changed[whole.length - 100] = (changed[whole.length - 100] ?? 0) ^ 1
  const header = Buffer.from(whole)
  header[40] = (header[40] ?? 0) ^ 1
  const others = {
    changed,
    header,
    cut: whole.subarray(0, -1),
    half: whole.subarray(0, Math.floor(whole.length / 2)),
    start: whole.subarray(0, 30),
    text: Buffer.from('something else entirely'),
    newer: Buffer.concat([Buffer.from('cachefleet backup 2\n'), whole.subarray(20)]),
  }
  for (const [name, bytes] of Object.entries(others)) await writeFile(join(folder, name), bytes)
  const stateDir = join(folder, 'new')
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ['fleet.backup', 'another passphrase', /^cachefleetd: the passphrase is not that of the back/],
    ['header', passphrase, /^cachefleetd: the passphrase is not that .* or its beginning was ch/],
    ['changed', passphrase, /^cachefleetd: the backup was cut or changed/],
    ['cut', passphrase, /^cachefleetd: the backup was cut or changed/],
    ['half', passphrase, /^cachefleetd: the backup was cut or changed/],
    ['start', passphrase, /^cachefleetd: the backup was cut or changed/],
    ['text', passphrase, /^cachefleetd: the file is no backup of cachefleet/],
    ['newer', passphrase, /^cachefleetd: a newer version has made this backup/],
    ['nowhere', passphrase, /^cachefleetd: the backup .*nowhere cannot be read/],
    ['fleet.backup', '', /^cachefleetd: there is no passphrase/],
  ]
  for (const [name, words, message] of rows) {
    const ran = await restore(join(folder, name), ['--state-dir', stateDir], words)
    t.match(ran, { code: 1, output: '', errors: message }, name)
    t.equal(ran.errors.trimEnd().split('\n').length, 1, `${name}: one line`)
    t.same(await readdir(stateDir).catch(() => []), [], `${name}: nothing written`)
  }
  await writeFile(join(folder, 'occupied'), '')
  t.match(await restore(file, ['--state-dir', folder]), { code: 1, errors: /is not empty \(/ })

  const words = ['--state-dir', coordinator.stateDir]
  t.match(await backUp(file, words, 'short'), { code: 1, errors: /fewer than 12 characters/ })
  t.match(await backUp(join(folder, 'no/where'), words), { code: 1, errors: /cannot be written/ })
  t.ok((await readFile(file)).equals(whole), 'the earlier backup is unchanged')
  t.match(await backUp(file, ['--state-dir', join(folder, 'none')]), { code: 78 })
  t.match(await runDaemon(['backup']), { code: 78, errors: /usage: cachefleetd backup FILE/ })
  await rename(join(coordinator.stateDir, 'secret.key'), join(folder, 'secret.key'))
  t.match(await backUp(file, words), { code: 1, errors: /there is no secret key/ })
})

void t.test('a restore that was killed can be repeated', parallel(), async (t) => {
  const { file, folder } = await keepOne(t)
  const stateDir = join(folder, 'new')
  await mkdir(stateDir)
  for (const name of ['ca.pem', 'secret.key', 'coordinator.db.new', 'coordinator.db.new-wal'])
    await writeFile(join(stateDir, name), 'half')
  t.match(await restore(file, ['--state-dir', stateDir]), { code: 0, errors: '' })
  t.same((await readdir(stateDir)).toSorted(), ['ca.pem', 'coordinator.db', 'secret.key'])
})

void t.test(
  'files that root creates for the service belong to the service',
  { ...parallel(), skip: geteuid?.() === 0 ? false : 'only root does it for others' },
  async (t) => {
    const { coordinator, folder } = await keepOne(t)
    await coordinator.daemon.stop()
    const { stateDir } = coordinator
    for (const name of [stateDir, ...(await readdir(stateDir)).map((one) => join(stateDir, one))])
      await chown(name, nobody, nobody)
    const file = join(folder, 'of-root.backup')
    t.match(await backUp(file, ['--state-dir', stateDir]), { code: 0, errors: '' })
    t.equal((await stat(file)).uid, 0, 'the backup is where the service may not write')
    t.same(await listOwners(stateDir), [nobody])
    const restored = await makeStateDir(t)
    await chown(restored, nobody, nobody)
    t.match(await restore(file, ['--state-dir', restored]), { code: 0, errors: '' })
    t.same(await listOwners(restored), [nobody])
  },
)

async function listOwners(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder)
  const owners = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).uid))
  return [...new Set(owners)]
}

void t.test('for PostgreSQL keys are kept, and pg_dump is advised', parallel(), async (t) => {
  const [postgres, folder] = await Promise.all([startPostgres(t), makeStateDir(t)])
  const url = (await postgres.url()).replace('unused', 'not-to-be-seen')
  const coordinator = await startCoordinator(t, { words: ['--no-agent', '--store', url] })
  const file = join(folder, 'keys.backup')
  const words = ['--store', url]
  const ran = await backUp(file, ['--state-dir', coordinator.stateDir, ...words])
  t.match(ran, { code: 0, output: /pg_dump --format=custom .*postgres@127\.0\.0\.1/ })
  t.notMatch(ran.output + ran.errors, /not-to-be-seen/)
  const stateDir = join(folder, 'new')
  t.match(await restore(file, ['--state-dir', stateDir]), { code: 1, errors: /on PostgreSQL/ })
  t.match(await restore(file, ['--state-dir', stateDir, ...words]), {
    code: 0,
    output: /pg_restore/,
  })
  const key = (folder_: string) => readFile(join(folder_, 'secret.key'), 'utf8')
  t.equal(await key(stateDir), await key(coordinator.stateDir))
  t.same(await readdir(stateDir), ['secret.key'])
})
