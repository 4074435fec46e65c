/** A built program starts from what was compiled of it when it was built, and without that all the same. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { cacheFileOf, loadProgram } from '../src/load-program.js'
import { root } from './support/root.js'

void t.test('what the build compiled of each program is taken', (t) => {
  for (const name of ['cachefleetd', 'cachefleet']) {
    const { script } = loadProgram(pathToFileURL(join(root, `dist/bin/${name}.cjs`)))
    t.equal(script.cachedDataRejected, false, name)
  }
  t.end()
})

void t.test('a program is run without it, too', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-program-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'program.cjs')
  const load = (): ReturnType<typeof loadProgram> => loadProgram(pathToFileURL(file))
  await writeFile(
    file,
    '(function (exports, require, module, file) { exports.done = Promise.resolve(file) })',
  )
  t.equal(await load().run(), file)
  const compiled = load().script.createCachedData()
  await writeFile(cacheFileOf(file), compiled)
  t.equal(load().script.cachedDataRejected, false)
  for (const broken of [
    compiled.subarray(0, 100),
    Buffer.from('something else'),
    Buffer.alloc(0),
  ]) {
    await writeFile(cacheFileOf(file), broken)
    t.equal(await load().run(), file, 'its text is compiled again')
  }
})
