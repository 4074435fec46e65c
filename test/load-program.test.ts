/** A built program starts from the code cache of its build, and also without it. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { cacheFileOf, compilePart, loadProgram } from '../src/load-program.js'
import { root } from './support/root.js'

void t.test('the code caches of all parts that a start needs are accepted', async (t) => {
  const folder = join(root, 'dist/bin')
  const caches = (await readdir(folder)).filter((name) => name.endsWith('.cjs.cache'))
  const parts = caches.map((name) => name.replace('.cache', ''))
  for (const part of parts) t.equal(compilePart(join(folder, part)).cachedDataRejected, false, part)
  for (const needed of [/^cachefleetd\.cjs$/, /^cachefleet\.cjs$/, /^agent-/, /^coordinator-/])
    t.ok(
      parts.some((part) => needed.test(part)),
      String(needed),
    )
})

void t.test('an agent and --version load nothing of a coordinator', async (t) => {
  const folder = join(root, 'dist/bin')
  const first = await readFile(join(folder, 'cachefleetd.cjs'), 'utf8')
  const needed = new Set(['cachefleetd.cjs'])
  const agent = (await readdir(folder)).find((name) => /^agent-\w+\.cjs$/.test(name)) ?? ''
  t.match(first, agent, 'the agent is imported when it is started')
  const waiting = ['cachefleetd.cjs', agent]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    needed.add(part)
    const text = await readFile(join(folder, part), 'utf8')
    t.notMatch(text, /\bfastify\b|better-sqlite3/, part)
    // Loaded at the start: later imports are required inside of a function.
    const names = [
      ...text.matchAll(/[\w$]\s*=\s*(?:__toESM\(\s*)?require\(\s*"\.\/([^"]+\.cjs)"\s*\)/g),
    ]
    for (const [, name = ''] of names) if (!needed.has(name)) waiting.push(name)
  }
  t.ok(needed.size > 5, `${needed.size} parts`)
})

void t.test('a program also runs without a valid code cache', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-program-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'program.cjs')
  const load = (): ReturnType<typeof loadProgram> => loadProgram(pathToFileURL(file))
  await writeFile(
    file,
    '(function (exports, require, module, file) { exports.done = Promise.resolve(file) })',
  )
  t.equal(await load().run(), file)
  const compiled = compilePart(file).createCachedData()
  await writeFile(cacheFileOf(file), compiled)
  t.equal(compilePart(file).cachedDataRejected, false)
  for (const broken of [
    compiled.subarray(0, 100),
    Buffer.from('something else'),
    Buffer.alloc(0),
  ]) {
    await writeFile(cacheFileOf(file), broken)
    t.equal(await load().run(), file, 'its source is compiled again')
  }
})

void t.test('a part is loaded once, at its first use', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-program-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const write = (name: string, body: string) =>
    writeFile(join(folder, name), `(function (exports, require, module) { ${body} })`)
  await write(
    'first.cjs',
    "exports.number = 1; exports.done = require('./second.cjs').read().then((all) => all.join())",
  )
  await write(
    'second.cjs',
    "const first = require('./first.cjs'); exports.read = async () => [first.number, require('./third.cjs').own, require('./third.cjs').own, require('node:path').sep]",
  )
  await write(
    'third.cjs',
    'globalThis.thirdLoads = (globalThis.thirdLoads ?? 0) + 1; module.exports = { own: globalThis.thirdLoads }',
  )
  await write('never.cjs', 'throw new Error()')
  const program = loadProgram(pathToFileURL(join(folder, 'first.cjs')))
  t.equal(program.scripts.size, 0)
  t.equal(await program.run(), '1,1,1,/')
  t.same(
    [...program.scripts.keys()].map((file) => basename(file)),
    ['first.cjs', 'second.cjs', 'third.cjs'],
  )
})
