/**
 * Automatic recovery: caches, agents and coordinators that die, hang or are lost; and agents that must not change the cache. Groups
 * of tests with their own processes run in parallel.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fetchMark, listVcls } from '../support/observe-cache.js'
import { parallel } from '../support/parallel.js'
import { openBootFile } from '../support/boot-file.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import {
  agentName,
  deploySite,
  editSite,
  makeSite,
  readAgreement,
  readRefusal,
  startHarness,
  startTraffic,
  untilAgent,
  untilServing,
  type Site,
  type Harness,
} from './harness.js'

t.jobs = 5

void t.test('restarts', parallel(), async (t) => {
  const harness = await startHarness(t)
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  await editSite(harness, site, 'kept')
  await deploySite(harness, site)

  await t.test('of the worker process: the VCL serves again', async () => {
    const worker = await harness.cache.childPid()
    process.kill(worker ?? 0, 'SIGKILL')
    await eventually('a new worker', async () => {
      const next = await harness.cache.childPid()
      return next !== null && next !== worker
    })
    await untilServing(harness.cache, 'kept')
    await untilAgreed(harness, site)
  })

  await t.test('of the cache: the agent is Failing, then restores the VCL', async () => {
    await harness.cache.stop()
    await untilAgent(harness, 'Failing')
    await harness.cache.restart()
    await untilServing(harness.cache, 'kept')
    await untilAgent(harness, 'Running')
    await untilAgreed(harness, site)
  })

  await t.test('of the agent: it sends no changing command', async (t) => {
    await harness.agent.kill()
    harness.port.forget()
    harness.link.forget()
    harness.startAgent()
    await untilNewHeartbeat(harness)
    t.same(harness.port.changes(), [])
    await untilAgreed(harness, site)
  })

  await t.test('of cache and agent during an outage of the coordinator: the agent recovers', (t) =>
    checkAlone(t, harness, site),
  )
})

async function checkAlone(t: Test, harness: Harness, site: Site): Promise<void> {
  t.equal(await harness.coordinator.daemon.stop(), 0)
  const traffic = startTraffic(t, harness.cache)
  await harness.cache.restart()
  await untilServing(harness.cache, 'kept')

  await harness.agent.kill()
  await harness.cache.restart()
  harness.startAgent()
  await untilServing(harness.cache, 'kept')
  await eventually('the start VCL of the cache is discarded', async () => {
    return !(await listVcls(harness.cache)).includes('boot')
  })

  const alone = await startVarnishd(t, {
    vcl: null,
    args: ['-I', await openBootFile(t, join(harness.agentStateDir, 'boot.cli'))],
  })
  t.equal((await fetchMark(alone)).mark, 'kept', 'boot.cli starts a cache without an agent')

  traffic.forget()
  harness.port.forget()
  harness.link.forget()
  await harness.coordinator.start()
  await untilNewHeartbeat(harness)
  await untilAgreed(harness, site)
  t.same(harness.port.changes(), [], 'a coordinator that returns changes nothing')
  t.same([...traffic.failures], [])
}

void t.test('an unreachable cache', parallel(), async (t) => {
  const harness = await startHarness(t)
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  const traffic = startTraffic(t, harness.cache)

  for (const fault of ['close', 'garbage', 'hang'] as const) {
    harness.port.setFault(fault)
    const failing = await untilAgent(harness, 'Failing')
    t.not(failing.engineState, 'running', fault)
    t.ok(harness.agent.isRunning(), `${fault}: the agent lives on`)
    harness.port.forget()
    harness.port.setFault('none')
    await untilAgent(harness, 'Running')
    t.same(harness.port.changes(), [], `${fault}: and then nothing is loaded again`)
  }
  t.same([...traffic.failures], [], 'clients of the cache were not affected')
  await editSite(harness, site, 'after')
  await deploySite(harness, site)
  t.equal(await readAgreement(harness, site), 'after')
})

void t.test('a cache that stops answering', parallel(), async (t) => {
  const harness = await startHarness(t)
  // A load in progress may take its 120 s before the cache counts as unresponsive.
  await eventually('no load is in progress', async () => {
    const { config } = await untilAgent(harness, 'Running')
    return config.effective.revision === config.desired.revision
  })
  const manager = harness.cache.pid()
  process.kill(manager, 'SIGSTOP')
  t.teardown(() => process.kill(manager, 'SIGCONT'))

  // A minute at most (docs/behaviour.md, Failing), and twice that for a busy machine.
  await eventually(
    'Failing',
    async () => (await harness.api.findAgent(agentName))?.stateName === 'Failing',
    120_000,
  )

  process.kill(manager, 'SIGCONT')
  await untilAgent(harness, 'Running')
})

void t.test('an agent that was Down', parallel(), async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  await editSite(harness, site, 'kept')
  await deploySite(harness, site)
  const traffic = startTraffic(t, harness.cache)

  await t.test('returns to its place: its VCL is unchanged', async (t) => {
    await harness.agent.kill()
    await untilAgent(harness, 'Down')
    await eventually('the group is in state Error', async () => {
      return (await harness.api.readGroup(site.id)).stateName === 'Error'
    })
    readRefusal(await harness.api.act(site.id, 'deploy'), 503)
    harness.port.forget()
    harness.link.forget()
    harness.startAgent()
    await untilNewHeartbeat(harness)
    await untilAgreed(harness, site)
    t.same(harness.port.changes(), [])
    t.same([...traffic.failures], [], 'no request failed meanwhile')
    t.equal((await harness.api.readGroup(site.id)).revision, 2, 'the same deploy made no revision')
  })

  await t.test('gets the VCL of a missed deploy, without an outage', async (t) => {
    await harness.agent.kill()
    await untilAgent(harness, 'Down')
    await editSite(harness, site, 'missed')
    readRefusal(await harness.api.act(site.id, 'deploy'), 503)
    harness.startAgent()
    await untilServing(harness.cache, 'missed')
    await untilAgreed(harness, site)
    t.same([...traffic.failures], [])
  })
})

void t.test('agents that must not change the cache', parallel(), async (t) => {
  await t.test('a read-only agent sends no changing command', async (t) => {
    const harness = await startHarness(t, { heartbeatSeconds: 1, agentWords: ['--read-only'] })
    const { id } = await untilAgent(harness, 'ReadOnly')
    const site = await makeSite(harness, 'never')
    readRefusal(await harness.api.act(site.id, 'deploy'), 503)
    const command = (line: string) =>
      harness.api.call('POST', `/agents/${id}/command`, { command: line })
    t.match(await command('vcl.list'), { status: 200, text: /boot/ })
    t.equal((await command('param.set default_ttl 5')).status, 409)
    t.equal((await command('vcl.use boot')).status, 400)
    t.equal((await harness.api.call('GET', `/agents/${id}/params`)).status, 200)

    await harness.cache.restart()
    harness.link.forget()
    await untilNewHeartbeat(harness)
    await untilAgent(harness, 'ReadOnly')
    t.same(await listVcls(harness.cache), ['boot'])
    t.equal((await fetchMark(harness.cache)).mark, 'foreign')
    t.same(harness.port.changes(), [])
  })

  await t.test('with --takeover first-deploy, the foreign VCL serves until then', async (t) => {
    const harness = await startHarness(t, {
      heartbeatSeconds: 1,
      agentWords: ['--takeover', 'first-deploy'],
    })
    await untilAgent(harness, 'Running')
    await untilNewHeartbeat(harness)
    t.equal((await fetchMark(harness.cache)).mark, 'foreign')
    const traffic = startTraffic(t, harness.cache)

    const site = await makeSite(harness, 'taken')
    await deploySite(harness, site)

    await untilAgreed(harness, site)
    t.same([...traffic.failures], [], 'the switch from the foreign VCL has no outage')
    t.same([...traffic.marks].toSorted(), ['foreign', 'taken-first'])
  })
})

/** Two heartbeats, so that the coordinator has sent its answer to the first one. */
async function untilNewHeartbeat(harness: Harness): Promise<void> {
  await eventually('two heartbeats', () => harness.link.count('heartbeat') >= 2)
}

async function untilAgreed(harness: Harness, site: Site): Promise<void> {
  await eventually('all agree', () => readAgreement(harness, site))
}
