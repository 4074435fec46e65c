/** An export contains what `apply` would find, so applying it changes nothing. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { chooseFileNames } from '../../src/cli/apply/export-documents.js'
import { answering } from '../support/observe-cache.js'
import { parallel } from '../support/parallel.js'
import { startMixedFleet } from '../support/mixed-fleet.js'
import { expectDone } from '../end-to-end/harness.js'
import { call, makeHome } from './run-cli.js'

async function makeFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-export-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

void t.test('applying an export changes nothing', parallel(), async (t) => {
  const { coordinator } = await startMixedFleet(t, { one: '7.1.1', two: '7.1.1' })
  const { api, base } = coordinator
  const environment = {
    ...(await makeHome(t)),
    CACHEFLEET_SERVER: base,
    CACHEFLEET_TOKEN: api.token,
  }
  const run = (...words: string[]) => call(words, { environment })
  const main = await api.makeFile(
    'site/main.vcl',
    'vcl 4.1;\ninclude "part:1.vcl";\nbackend default none;\n',
  )
  const part = await api.makeFile('part:1.vcl', '# ünïcode\nsub vcl_recv {\n}\n', 2)
  await api.call('POST', '/files', {
    name: 'logo.bin',
    source: Buffer.from([0, 255, 1]).toString('base64'),
    encoded: true,
    fileType: 3,
  })
  const deployment = await api.makeDeployment('web: all', await api.findTag('web'), {
    min: 1,
    max: 2,
  })
  const domain = await api.make('/domains', { fqdn: '*.news.example' })
  const group = await api.makeGroup({ name: '@site', mainFile: main, includes: [part], deployment })
  expectDone(
    await api.call('PUT', `/vclgroups/${group}`, {
      domains: [{ id: domain }],
      releases: ['7', '8'],
    }),
  )
  expectDone(await api.act(group, 'deploy'))
  const stopped = await api.makeFile('old.vcl', answering('old'))
  await api.editFile(stopped, answering('newer'))
  const pinned = await api.makeGroup({ name: 'old', mainFile: stopped, deployment })
  expectDone(
    await api.call('PUT', `/vclgroups/${pinned}`, { mainVCL: { id: stopped, version: 1 } }),
  )

  const folder = join(await makeFolder(t), 'fleet')
  t.match(await run('export', folder), {
    code: 0,
    out: '',
    err: /^cachefleet: note: vclgroup "old" names version 1 of old\.vcl; the folder has the newest text\n$/,
  })
  const plan = await run('apply', '-f', folder, '--plan')
  t.same(plan, { code: 0, out: 'nothing to change\n', err: '' })
  const documents = await readFile(join(folder, 'fleet.yaml'), 'utf8')
  t.match(documents, /^kind: set\nname: fleet\n---\n/)
  t.match(documents, /kind: vclgroup\nname: "@site"\nmainVCL: site\/main\.vcl/)
  t.same((await readdir(join(folder, 'vcl'))).toSorted(), [
    ...['logo.bin', 'old.vcl', 'part_1.vcl', 'site_main.vcl'],
  ])
  t.match(await run('export', folder), { code: 2, err: /is not empty/ })

  await t.test('creates the same fleet elsewhere', async (t) => {
    const other = await startMixedFleet(t, { one: '7.1.1', two: '7.1.1' })
    const there = {
      ...environment,
      CACHEFLEET_SERVER: other.coordinator.base,
      CACHEFLEET_TOKEN: other.coordinator.api.token,
    }
    const applied = await call(['apply', '-f', folder], { environment: there })
    t.equal(applied.code, 0, applied.err)
    // A pinned version belongs to the old fleet: its text is not exported, and the new fleet has version 1 of another text.
    t.match(await call(['apply', '-f', folder, '--plan'], { environment: there }), { code: 0 })
    const again = join(await makeFolder(t), 'again')
    t.equal((await call(['export', again], { environment: there })).code, 0)
    t.equal(await readFile(join(again, 'fleet.yaml'), 'utf8'), documents)
  })

  await t.test('notes what apply would change when a deploy is out of date', async (t) => {
    await api.editFile(part, '# another\n')
    const later = join(await makeFolder(t), 'later')
    t.match(await run('export', later), {
      code: 0,
      err: /^cachefleet: note: apply would deploy vclg/,
    })
    t.match(await run('export', join(later, 'x'), '--set', 'none'), {
      code: 1,
      err: /belongs to the s/,
    })
  })
})

void t.test('exported file names are safe and unique', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, unit: 'grapheme' })), (names) => {
      const chosen = [...chooseFileNames(names).values()]
      const lower = new Set(chosen.map((name) => name.toLowerCase()))
      return (
        chosen.length === names.length &&
        lower.size === names.length &&
        chosen.every((name) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name) && name.length < 120)
      )
    }),
  )
  t.end()
})
