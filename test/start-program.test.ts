/** The message on a Node that is too old. The old Node is simulated by its version number, which is all that the programs check. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { findNodeProblem } from '../src/start-program.js'
import { root } from './support/root.js'

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly engines: Readonly<Record<string, string>>
}

const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest

void t.test('Node 20.19 is enough, as package.json says', (t) => {
  t.equal(manifest.engines['node'], '>=20.19')
  for (const node of ['20.19.0', '20.20.2', '22.0.0', '100.1.0'])
    t.equal(findNodeProblem(node), null, node)
  for (const node of ['20.18.3', '18.20.8', '8.19.0'])
    t.match(findNodeProblem(node), `Node ${node} is too old: 20.19 or newer is needed`)
  t.end()
})

void t.test('every program exits with 78 on an older Node, before it is loaded', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-node-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const old = join(folder, 'old.cjs')
  await writeFile(
    old,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })",
  )
  // A file that imports anything besides its check would load that first.
  const programs = { ...manifest.bin, 'cachefleet setup': 'scripts/setup.mjs' }
  for (const [name, path] of Object.entries(programs)) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--require', old, join(root, path), '--version'],
      { encoding: 'utf8' },
    )
    t.equal(status, 78, name)
    t.equal(stderr, `${name}: Node 18.20.8 is too old: 20.19 or newer is needed\n`)
    t.equal(stdout, '')
  }
  for (const path of ['src/start.ts', 'src/cli/start.ts']) {
    const text = await readFile(join(root, path), 'utf8')
    t.match(text.match(/^import .*$/gm), ['start-program.js'], path)
    t.equal(text.match(/^import .*$/gm)?.length, 1)
  }
  t.notMatch(await readFile(join(root, 'src/start-program.ts'), 'utf8'), /^import /m)
})
