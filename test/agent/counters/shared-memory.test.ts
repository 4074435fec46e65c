/** The cache's files as other releases write them, half written, left behind, corrupt or hostile; and varnishstat's formats. */
import { execFileSync } from 'node:child_process'
import { appendFile, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { createCounterReader } from '../../../src/agent/counters/counter-reader.js'
import { parseMemoryIndex } from '../../../src/agent/counters/memory-index.js'
import { SharedMemory } from '../../../src/agent/counters/shared-memory.js'
import { parseStatistics, StatTool } from '../../../src/agent/counters/stat-tool.js'
import { createWrittenMemory } from './written-memory.js'

const all = () => true
/** Beyond the precision of a double. */
const many = 2n ** 63n + 12_345n

/** Above Linux's limit (PID_MAX_LIMIT): a pid near ours may be that of a real cache. */
const pidOfNobody = (1 << 22) + 1

void t.test('64-bit counters are exact, in signed and unsigned lists', async (t) => {
  for (const isUnsigned of [false, true]) {
    const { folder, write } = await createWrittenMemory(t)
    const memory = new SharedMemory(folder, all)
    t.equal(memory.read(), null, 'there is no cache yet')
    await write('mgt', { value: 5n, isUnsigned })
    const stopped = memory.read()
    t.same([...(stopped?.values ?? [])], [['MGT.uptime', 5n]], 'the child is not running')
    await write('child', { value: many, isUnsigned })
    const reading = memory.read()
    t.equal(reading?.values.get('MAIN.client_req'), many)
    t.notOk(reading?.values.has('MAIN.happy'))
    t.equal(reading?.isComplete, true)
    t.not(stopped?.lives.child, reading?.lives.child)
  }
})

void t.test('cold VCLs are read, removed segments gone, unfinished ones reported', async (t) => {
  const { folder, write } = await createWrittenMemory(t)
  const memory = new SharedMemory(folder, all)
  await write('mgt', { value: 5n })
  await write('child', { value: 1n, ready: 0 })
  t.match(memory.read(), { isComplete: false })
  await write('child', { value: 1n, ready: 2 })
  t.equal(memory.read()?.values.get('MAIN.client_req'), 1n)
  await appendFile(join(folder, '_.vsm_child', '_.index'), '- _.Stat.2 0 40 Stat MAIN\n')
  t.equal(memory.read()?.values.has('MAIN.client_req'), false)
})

void t.test('a restarted child has another life', async (t) => {
  const { folder, write } = await createWrittenMemory(t)
  const memory = new SharedMemory(folder, all)
  await write('mgt', { value: 5n })
  await write('child', { value: 100n })
  const before = memory.read()
  await write('child', { value: 200n, start: 2 })
  const after = memory.read()
  t.not(before?.lives.child, after?.lives.child)
  t.equal(before?.lives.manager, after?.lives.manager)
})

void t.test('files left behind by a killed cache do not count as a cache', async (t) => {
  const { folder, write } = await createWrittenMemory(t)
  const memory = new SharedMemory(folder, all)
  await write('mgt', { value: 5n })
  t.ok(memory.read())
  const index = join(folder, '_.vsm_mgt', '_.index')
  // This process ended before the next line.
  const gone = String(execFileSync('sh', ['-c', 'echo $$'])).trim()
  await writeFile(index, (await readFile(index, 'utf8')).replace(/# \d+/, `# ${gone}`))
  t.equal(memory.read(), null)
})

void t.test('an index cannot lead elsewhere, and links are not followed', async (t) => {
  const { folder, write } = await createWrittenMemory(t)
  const secret = join(folder, 'secret')
  await writeFile(secret, 'a secret of the host\n')
  await write('mgt', { value: 5n })
  await write('child', {
    value: 6n,
    moreLines: ['+ ../secret 0 40 Stat OUT', '+ /etc/passwd 0 40 Stat OUT'],
  })
  t.same(
    [...(new SharedMemory(folder, all).read()?.values.keys() ?? [])],
    ['MGT.uptime', 'MAIN.client_req'],
  )
  const counters = join(folder, '_.vsm_child', '_.Stat.2')
  await rm(counters)
  await symlink(secret, counters)
  t.throws(() => new SharedMemory(folder, all).read(), { code: 'ELOOP' })
  t.end()
})

void t.test('a corrupt file yields an error or a reading, nothing else', async (t) => {
  const { folder, write } = await createWrittenMemory(t)
  await write('mgt', { value: 5n })
  await write('child', { value: 6n })
  const files = ['_.index', '_.Stat.2', '_.StatDoc.1'].map((name) =>
    join(folder, '_.vsm_child', name),
  )
  const originals = await Promise.all(files.map((file) => readFile(file)))
  const change = fc.record({ file: fc.nat(2), at: fc.nat(200), byte: fc.nat(255), cut: fc.nat(3) })
  await fc.assert(
    fc.asyncProperty(change, async ({ file, at, byte, cut }) => {
      const spoiled = Buffer.from(originals[file] ?? '')
      spoiled[at % spoiled.length] = byte
      await writeFile(files[file] ?? '', cut === 0 ? spoiled.subarray(0, at) : spoiled)
      try {
        const values = new SharedMemory(folder, all).read()?.values ?? new Map<string, bigint>()
        for (const value of values.values()) t.type(value, 'bigint')
      } catch (error) {
        t.ok(error instanceof Error)
      }
      await writeFile(files[file] ?? '', originals[file] ?? '')
    }),
  )
})

void t.test('an index that is being written is read as far as it is complete', (t) => {
  t.equal(parseMemoryIndex(''), null)
  t.equal(parseMemoryIndex('# 12'), null)
  t.equal(parseMemoryIndex('# 12 345'), null)
  const begun = parseMemoryIndex('# 12 345\n+ _.Stat.a 16 184 Stat VBE.boot.a\n+ _.Stat.a 200 18')
  t.match(begun, { pid: 12, segments: [{ offset: 16, length: 184, ident: 'VBE.boot.a' }] })
  t.equal(begun?.segments.length, 1)
  t.end()
})

const product = () => 'varnish'

void t.test('both formats of varnishstat are parsed exactly', (t) => {
  const counter = `{ "description": "a \\"value\\": 1", "flag": "c", "format": "i", "value": ${many} }`
  const happy = `{ "description": "", "flag": "b", "format": "b", "value": ${2n ** 64n - 1n} }`
  const members = `"MAIN.client_req": ${counter}, "VBE.boot.a.happy": ${happy}`
  for (const text of [
    `{ "timestamp": "2026-11-20T08:31:35", ${members} }`,
    `{ "version": 1, "timestamp": "2026-11-20T08:31:35", "counters": { ${members} } }`,
  ])
    t.same([...parseStatistics(text)], [['MAIN.client_req', many]])
  t.throws(() => parseStatistics('Could not get hold of varnishd'))
  t.end()
})

void t.test(
  'without readable files the reader falls back to varnishstat, and retries neither at once',
  async (t) => {
    const { folder, write } = await createWrittenMemory(t)
    await write('mgt', { value: 5n, description: 'no description' })
    const lines: string[] = []
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
    const reader = createCounterReader({
      workingDirectory: folder,
      cachePid: () => null,
      product,
      isWanted: all,
      log,
    })
    t.equal(await reader.read(), null)
    t.equal(lines.length, 2, 'each source logged its failure')
    t.match(lines[0], /JSON.*--engine-name/)
    t.match(lines[1], /varnishstat/)
    t.equal(await reader.read(), null)
    t.equal(lines.length, 2, 'neither is retried at once')
    await t.rejects(
      new StatTool({ folder, statTool: 'no-such-varnishstat', isWanted: all }).read(),
      { code: 'ENOENT' },
    )
  },
)

void t.test(
  'without a working directory the default one is read, if it belongs to this cache',
  async (t) => {
    const { folder, write } = await createWrittenMemory(t)
    await write('mgt', { value: 5n })
    const { folder: stateFolder } = await createWrittenMemory(t)
    await symlink(folder, join(stateFolder, hostname()))
    const log = pino({ level: 'silent' })
    let cachePid: number | null = null
    const reader = createCounterReader({
      workingDirectory: null,
      cachePid: () => cachePid,
      product,
      isWanted: all,
      stateFolder,
      log,
    })
    t.equal(await reader.read(), null, 'the cache was not reached yet')
    cachePid = pidOfNobody
    t.equal(await reader.read(), null, 'the folder belongs to another cache')
    cachePid = process.pid
    t.match(await reader.read(), { values: new Map([['MGT.uptime', 5n]]) })
    const named = createCounterReader({
      workingDirectory: hostname(),
      cachePid: () => null,
      product,
      isWanted: all,
      stateFolder,
      log,
    })
    t.ok(await named.read(), 'a name resolves below the default folder')
  },
)
