/** A coordinator whose SQLite store is full, or locked by another process: it reports that, serves what it can, and recovers. */
import { join } from 'node:path'
import t from 'tap'
import { BetterSqlite3 } from '../../src/coordinator/store/sqlite-library.js'
import { logIn } from '../support/api-client.js'
import { parallel } from '../support/parallel.js'
import { administrator, makeStateDir, startCoordinator, type Daemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { prepareShortage } from '../support/shortage.js'
import { readRefusal } from './harness.js'

/** Each test has its own coordinator. */
t.jobs = 2

const words = ['--no-agent', '--simulate', '2', '--heartbeat', '1']

/** Log lines that the coordinator itself classifies as bugs. */
function bugsIn(daemon: Daemon): string[] {
  return daemon
    .lines()
    .filter(({ msg }) => msg === 'internal error')
    .map((line) => JSON.stringify(line))
}

void t.test('a full store', parallel(), async (t) => {
  const stateDir = await makeStateDir(t)
  const shortage = await prepareShortage(stateDir, 24)
  const setup = { words, stateDir, through: shortage.through }
  const { api, daemon, base } = await startCoordinator(t, setup)
  t.teardown(async () => {
    await daemon.kill()
    await shortage.cleanUp()
  })
  await eventually('both are Running', async () => (await countRunning()) === 2)
  const kept = await api.makeTag('kept')

  const readReady = () => fetch(`${base}/readyz`)
  const readMetrics = async () => (await fetch(`${base}/metrics`)).text()
  t.match(await readMetrics(), 'cachefleet_agents{state="Running"} 2')
  t.equal((await readReady()).status, 200)
  await shortage.begin(daemon)
  await eventually('it is not ready', async () => (await readReady()).status === 503)
  t.match(await (await readReady()).json(), { errorMsg: 'the store cannot be written' })
  const metrics = await readMetrics()
  t.match(metrics, 'cachefleet_store_up 0')
  t.match(metrics, 'cachefleet_bus_up 1')
  t.notMatch(metrics, /^cachefleet_(?:agents|groups|problems)\{/m, 'unknown values are omitted')
  let refused = 0
  for (let count = 0; count < 50 && refused < 5; count++) {
    const answer = await api.call('POST', '/files', {
      name: `file ${count}`,
      source: 'x'.repeat(50_000),
    })
    if (answer.status === 201) continue
    refused += 1
    t.match(readRefusal(answer, 503), /^the store does not work: /)
    t.equal(answer.headers.get('retry-after'), '10')
  }
  t.equal(refused, 5)
  t.equal((await api.call('GET', `/tags/${kept}`)).status, 200, 'reads still work')
  t.equal((await fetch(`${base}/healthz`)).status, 200)
  await t.rejects(logIn(base, administrator), /503/)

  await shortage.end(daemon)
  await eventually(
    'writes work again',
    async () => (await api.call('POST', '/tags', { name: 'later' })).status === 201,
  )
  await logIn(base, administrator)
  await eventually('it is ready', async () => (await readReady()).status === 200)
  await eventually('both are still Running', async () => (await countRunning()) === 2)
  t.same(bugsIn(daemon), [])

  async function countRunning(): Promise<number> {
    return (await api.listAgents()).filter(({ stateName }) => stateName === 'Running').length
  }
})

void t.test('a store that another process locks', parallel(), async (t) => {
  const { api, daemon, base, stateDir } = await startCoordinator(t, { words })
  const other = new BetterSqlite3(join(stateDir, 'coordinator.db'))
  t.teardown(() => other.close())
  other.exec('begin immediate')
  const making = api.makeTag('patient')

  for (let count = 0; count < 5; count++) t.equal((await fetch(`${base}/healthz`)).status, 200)
  other.exec('commit')
  t.ok(await making)

  other.exec('begin immediate')
  t.match(
    readRefusal(await api.call('POST', '/tags', { name: 'late' }), 503),
    /another process holds/,
  )
  other.exec('commit')
  t.ok(await api.makeTag('later'))
  t.same(bugsIn(daemon), [])
})
