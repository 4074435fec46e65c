/** The agent's files on disk: written whole or not at all, bounded, and no reason to crash when damaged. */
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { emptyRecord, parseRecord, type AgentRecord } from '../../src/agent/agent-record.js'
import { openKey } from '../../src/agent/link/key.js'
import { digestSource } from '../../src/agent/apply/sources.js'
import { openStateOnDisk } from '../../src/agent/apply/state-on-disk.js'
import { makeFolder } from './run-agent.js'

const log = pino({ level: 'silent' })
const holding = (name: string, sha = 'a'.repeat(64)): Partial<AgentRecord> => ({
  coordinatorId: 'one',
  heldRevision: 3,
  desired: { load: [{ name, sha }], labels: [], active: name },
  ours: [name],
})

void t.test('the record survives a restart, in a folder only its owner can access', async (t) => {
  const folder = join(await makeFolder(t), 'state')
  const state = await openStateOnDisk(folder, log)
  t.same(state.record, emptyRecord)

  await state.change(holding('cf-1-aaaaaaaa-1'))

  t.equal((await stat(folder)).mode & 0o777, 0o700)
  t.equal((await stat(join(folder, 'state.json'))).mode & 0o777, 0o600)
  t.same((await openStateOnDisk(folder, log)).record, state.record)
  await chmod(folder, 0o755)
  await openStateOnDisk(folder, log)
  t.equal((await stat(folder)).mode & 0o777, 0o700, 'an open folder is restricted')
})

void t.test('a truncated write leaves the old record', async (t) => {
  const folder = await makeFolder(t)
  const state = await openStateOnDisk(folder, log)
  await state.change(holding('cf-1-aaaaaaaa-1'))
  const whole = await readFile(join(folder, 'state.json'), 'utf8')

  await fc.assert(
    fc.asyncProperty(fc.nat({ max: whole.length }), async (length) => {
      await writeFile(join(folder, 'state.json.new'), whole.slice(0, length))
      t.same((await openStateOnDisk(folder, log)).record, state.record)
    }),
    { numRuns: 20 },
  )
  await state.change({ heldRevision: 4 })
  t.equal((await openStateOnDisk(folder, log)).record.heldRevision, 4)
})

void t.test('a damaged record is set aside, and the last good state is used', async (t) => {
  const folder = await makeFolder(t)
  const state = await openStateOnDisk(folder, log)
  await state.change(holding('cf-1-aaaaaaaa-1'))
  await state.keepGoodState()
  await state.change({ heldRevision: 9, lockedBecause: 'later' })
  const good = { ...emptyRecord, ...holding('cf-1-aaaaaaaa-1') }

  for (const damage of ['', '{"coordinatorId":', '[]', 'null', '{"heldRevision":"3"}', '\0\0\0']) {
    await writeFile(join(folder, 'state.json'), damage)
    t.same((await openStateOnDisk(folder, log)).record, good, JSON.stringify(damage))
  }
  const aside = (await readdir(folder)).filter((name) => name.startsWith('state.json.broken-'))
  t.ok(aside.length >= 1 && aside.length <= 5, 'the number of files set aside is bounded')
})

void t.test('only a record parses as one', (t) => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      t.equal(parseRecord(text), null)
    }),
    { numRuns: 50 },
  )
  t.same(parseRecord(JSON.stringify(emptyRecord)), emptyRecord)
  t.end()
})

void t.test(
  'sources are kept while a good state needs them, and used only when intact',
  async (t) => {
    const folder = await makeFolder(t)
    const state = await openStateOnDisk(folder, log)
    const texts = Array.from({ length: 25 }, (_, index) => `text ${index}`)
    for (const [index, text] of texts.entries()) {
      const sha = digestSource(text)
      await state.writeSource(sha, text)
      await state.change(holding(`cf-1-aaaaaaaa-${index}`, sha))
      await state.keepGoodState()
      await state.keepGoodState()
    }

    t.equal((await readdir(join(folder, 'history'))).length, 21, 'the last good one and 20 before')
    t.equal((await readdir(join(folder, 'sources'))).length, 21)
    const last = digestSource('text 24')
    t.equal(await state.readSource(last), 'text 24')
    t.equal(await state.readSource(digestSource('text 3')), null)
    await writeFile(join(folder, 'sources', last), 'text 2')
    t.equal(await state.readSource(last), null, 'a damaged text is fetched again')
    await t.rejects(state.readSource('../state.json'), /not a SHA-256/)
  },
)

void t.test('a failed write is an error, and succeeds once there is room again', async (t) => {
  const folder = await makeFolder(t)
  const state = await openStateOnDisk(folder, log)
  await state.change(holding('cf-1-aaaaaaaa-1'))
  const before = state.record
  await mkdir(join(folder, 'state.json.new')) // like a full disk: the draft cannot be written

  await t.rejects(state.change({ heldRevision: 4 }), /EISDIR/)

  t.same(state.record, before, 'the old record stays')
  await rm(join(folder, 'state.json.new'), { recursive: true })
  await state.change({ heldRevision: 4 })
  t.equal((await openStateOnDisk(folder, log)).record.heldRevision, 4)
})

void t.test('foreign sources are stored once per text, with mode 0600, at most 200', async (t) => {
  const folder = await makeFolder(t)
  const state = await openStateOnDisk(folder, log)

  const first = await state.saveUnmanaged('boot', Buffer.from('vcl one'))
  t.match(first, /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-boot\.vcl$/)
  t.equal(await state.saveUnmanaged('boot', Buffer.from('vcl one')), first)
  const foreign = join(folder, 'foreign')
  t.equal((await stat(join(foreign, first))).mode & 0o777, 0o600)
  t.equal((await readdir(foreign)).length, 1, 'the same text is stored once')
  for (let index = 0; index < 205; index++)
    await state.saveUnmanaged(`vcl-${index}`, Buffer.from(`${index}`))
  await state.saveUnmanaged('n'.repeat(233), Buffer.from('a name as long as the cache takes'))
  t.equal((await readdir(foreign)).length, 200)
})

void t.test('the key is created once, for its owner only; a damaged one is replaced', async (t) => {
  const folder = await makeFolder(t)
  const key = await openKey(folder, log)
  t.match(key, { secret: /^[0-9a-f]{64}$/, isNew: true })
  t.same(await openKey(folder, log), { ...key, isNew: false })
  t.equal((await stat(join(folder, 'agent.key'))).mode & 0o777, 0o600)

  await writeFile(join(folder, 'agent.key'), 'cut')

  t.not((await openKey(folder, log)).secret, key.secret)
  t.equal(await readFile(join(folder, 'agent.key.broken'), 'utf8'), 'cut')
})
