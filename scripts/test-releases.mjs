/**
 * The same tests on every release of the cache: `npm run test:releases [NAME…]`, all of them unless named. Each is built once
 * (build-caches.mjs); its programs come first on PATH, where the tests look for the cache. `npm test` stays with the one that is
 * installed. What each can do is written to docs/releases.md.
 */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildCache, checkNames, foldersOf, releases } from './build-caches.mjs'
import { writeReleasesPage } from './releases-page.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** What a cache is replaced by: one before and one after the change, and the other product. */
const replacements = ['varnish-7.1.1', 'varnish-9.0.2', 'vinyl-9.0.1']
/** What meets the cache itself: the protocol, an agent beside it, and from a call of the API to what clients are served. */
const files = [
  'test/protocol/quirks.test.ts',
  'test/protocol/real-release.test.ts',
  'test/agent/real-cache.test.ts',
  'test/agent/settings.test.ts',
  'test/agent/checks.test.ts',
  'test/agent/purge.test.ts',
  'test/agent/protectable.test.ts',
  'test/agent/spawned-engine.test.ts',
  'test/agent/running-caches.test.ts',
  'test/agent/counters/real-cache.test.ts',
  'test/end-to-end/deploy.test.ts',
  'test/end-to-end/domains.test.ts',
  'test/end-to-end/adopt.test.ts',
  'test/end-to-end/faults-takeover.test.ts',
  'test/end-to-end/hostile-settings.test.ts',
  'test/end-to-end/invalidations.test.ts',
  'test/end-to-end/statistics.test.ts',
  'test/end-to-end/live-log.test.ts',
  'test/end-to-end/traffic-figures.test.ts',
  'test/agent/log-tool.test.ts',
  'test/end-to-end/kills.test.ts',
  'test/end-to-end/recovery.test.ts',
  'test/releases/',
]

const names = process.argv.slice(2)
const failed = []
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
try {
  checkNames(names)
  const wanted = names.length > 0 ? names : Object.keys(releases)
  for (const name of new Set([...wanted, ...replacements])) buildCache(name)
  for (const name of wanted) if (!(await testRelease(name))) failed.push(name)
  if (failed.length > 0) throw new Error(`failed on ${failed.join(', ')}`)
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** Answers whether all passed; then its row is written. */
async function testRelease(name) {
  process.stdout.write(`${name}\n`)
  const others = replacements.filter((one) => one !== name)
  const env = {
    ...process.env,
    PATH: [...foldersOf(name), process.env.PATH].join(':'),
    CACHEFLEET_TEST_RELEASES: others.map((one) => foldersOf(one)[0]).join(':'),
  }
  const words = [join(root, 'scripts', 'run-tests.mjs'), ...files]
  const child = spawn(process.execPath, words, { cwd: root, env, stdio: 'inherit' })
  const stop = () => child.kill()
  process.once('exit', stop)
  const status = await new Promise((resolve) => child.once('close', resolve))
  process.off('exit', stop)
  if (status !== 0) return false
  await writeReleasesPage(root, name)
  return true
}
