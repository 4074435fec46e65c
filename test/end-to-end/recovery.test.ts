/**
 * What comes back by itself: caches, agents and coordinators that die, hang or stay away; and agents that are told to
 * hold still. Lanes with processes of their own run side by side.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fetchMark, listVcls } from '../agent/cache-sight.js'
import { beside } from '../support/beside.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import {
  agentName,
  deploySite,
  editSite,
  makeSite,
  readAgreement,
  readRefusal,
  startStand,
  startTraffic,
  untilAgent,
  untilServing,
  type Site,
  type Stand,
} from './stand.js'

const laneTimeoutMs = 220_000
const agreementTimeoutMs = 30_000

t.jobs = 5

void t.test('restarts', beside(laneTimeoutMs), async (t) => {
  const stand = await startStand(t)
  await untilAgent(stand, 'Running')
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  await editSite(stand, site, 'kept')
  await deploySite(stand, site)

  await t.test('of the worker process: the VCL serves again', async () => {
    const worker = await stand.cache.childPid()
    process.kill(worker ?? 0, 'SIGKILL')
    await eventually('a new worker', async () => {
      const next = await stand.cache.childPid()
      return next !== null && next !== worker
    })
    await untilServing(stand.cache, 'kept')
    await untilAgreed(stand, site)
  })

  await t.test('of the cache: the agent is Failing, then brings the VCL back', async () => {
    await stand.cache.stop()
    await untilAgent(stand, 'Failing')
    await stand.cache.restart()
    await untilServing(stand.cache, 'kept')
    await untilAgent(stand, 'Running')
    await untilAgreed(stand, site)
  })

  await t.test('of the agent: not one changing command', async (t) => {
    await stand.agent.kill()
    stand.port.forget()
    stand.link.forget()
    stand.startAgent()
    await untilHeard(stand)
    t.same(stand.port.changes(), [])
    await untilAgreed(stand, site)
  })

  await t.test('of cache and agent while the coordinator is away: the agent alone heals', (t) =>
    checkAlone(t, stand, site),
  )
})

async function checkAlone(t: Test, stand: Stand, site: Site): Promise<void> {
  t.equal(await stand.coordinator.daemon.stop(), 0)
  const traffic = startTraffic(t, stand.cache)
  await stand.cache.restart()
  await untilServing(stand.cache, 'kept')

  await stand.agent.kill()
  await stand.cache.restart()
  stand.startAgent()
  await untilServing(stand.cache, 'kept')
  await eventually('what the cache started with is gone', async () => {
    return !(await listVcls(stand.cache)).includes('boot')
  })

  const alone = await startVarnishd(t, {
    vcl: null,
    args: ['-I', join(stand.agentStateDir, 'boot.cli')],
  })
  t.equal((await fetchMark(alone)).mark, 'kept', 'boot.cli starts a cache without an agent')

  traffic.forget()
  stand.port.forget()
  stand.link.forget()
  await stand.coordinator.start()
  await untilHeard(stand)
  await untilAgreed(stand, site)
  t.same(stand.port.changes(), [], 'a coordinator that returns changes nothing')
  t.same([...traffic.failures], [])
}

void t.test('a cache that is not there', beside(laneTimeoutMs), async (t) => {
  const stand = await startStand(t)
  await untilAgent(stand, 'Running')
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  const traffic = startTraffic(t, stand.cache)

  for (const fault of ['close', 'garbage', 'hang'] as const) {
    stand.port.setFault(fault)
    const failing = await untilAgent(stand, 'Failing')
    t.not(failing.engineState, 'running', fault)
    t.ok(stand.agent.isRunning(), `${fault}: the agent lives on`)
    stand.port.forget()
    stand.port.setFault('none')
    await untilAgent(stand, 'Running')
    t.same(stand.port.changes(), [], `${fault}: and then nothing is loaded again`)
  }
  t.same([...traffic.failures], [], 'nobody who used the cache noticed')
  await editSite(stand, site, 'after')
  await deploySite(stand, site)
  t.equal(await readAgreement(stand, site), 'after')
})

void t.test('a cache that stops answering', beside(laneTimeoutMs), async (t) => {
  const stand = await startStand(t)
  // A load in progress may take its 120 s before the cache counts as one that does not answer.
  await eventually('nothing is being loaded', async () => {
    const { config } = await untilAgent(stand, 'Running')
    return config.effective.revision === config.desired.revision
  })
  const manager = stand.cache.pid()
  process.kill(manager, 'SIGSTOP')
  t.teardown(() => process.kill(manager, 'SIGCONT'))

  // A minute at most (docs/behaviour.md, Failing), and twice that for a busy machine.
  await eventually(
    'Failing',
    async () => (await stand.api.findAgent(agentName))?.stateName === 'Failing',
    120_000,
  )

  process.kill(manager, 'SIGCONT')
  await untilAgent(stand, 'Running')
})

void t.test('an agent that was Down', beside(laneTimeoutMs), async (t) => {
  const stand = await startStand(t, { heartbeatSeconds: 1 })
  await untilAgent(stand, 'Running')
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  await editSite(stand, site, 'kept')
  await deploySite(stand, site)
  const traffic = startTraffic(t, stand.cache)

  await t.test('returns to its place: what it serves is not touched', async (t) => {
    await stand.agent.kill()
    await untilAgent(stand, 'Down')
    await eventually('the group is told as in trouble', async () => {
      return (await stand.api.readGroup(site.id)).stateName === 'Error'
    })
    readRefusal(await stand.api.act(site.id, 'deploy'), 503)
    stand.port.forget()
    stand.link.forget()
    stand.startAgent()
    await untilHeard(stand)
    await untilAgreed(stand, site)
    t.same(stand.port.changes(), [])
    t.same([...traffic.failures], [], 'no request failed meanwhile')
    t.equal((await stand.api.readGroup(site.id)).revision, 2, 'the same deploy made no revision')
  })

  await t.test('of a deploy that it missed it gets the new VCL, without an outage', async (t) => {
    await stand.agent.kill()
    await untilAgent(stand, 'Down')
    await editSite(stand, site, 'missed')
    readRefusal(await stand.api.act(site.id, 'deploy'), 503)
    stand.startAgent()
    await untilServing(stand.cache, 'missed')
    await untilAgreed(stand, site)
    t.same([...traffic.failures], [])
  })
})

void t.test('held still', beside(laneTimeoutMs), async (t) => {
  await t.test('a read-only agent sends not one changing command', async (t) => {
    const stand = await startStand(t, { heartbeatSeconds: 1, agentWords: ['--read-only'] })
    const { id } = await untilAgent(stand, 'ReadOnly')
    const site = await makeSite(stand, 'never')
    readRefusal(await stand.api.act(site.id, 'deploy'), 503)
    const command = (line: string) =>
      stand.api.call('POST', `/agents/${id}/command`, { command: line })
    t.match(await command('vcl.list'), { status: 200, text: /boot/ })
    t.equal((await command('param.set default_ttl 5')).status, 409)
    t.equal((await command('vcl.use boot')).status, 400)
    t.equal((await stand.api.call('GET', `/agents/${id}/params`)).status, 200)

    await stand.cache.restart()
    stand.link.forget()
    await untilHeard(stand)
    await untilAgent(stand, 'ReadOnly')
    t.same(await listVcls(stand.cache), ['boot'])
    t.equal((await fetchMark(stand.cache)).mark, 'foreign')
    t.same(stand.port.changes(), [])
  })

  await t.test('with --takeover first-deploy the foreign VCL serves until then', async (t) => {
    const stand = await startStand(t, {
      heartbeatSeconds: 1,
      agentWords: ['--takeover', 'first-deploy'],
    })
    await untilAgent(stand, 'Running')
    await untilHeard(stand)
    t.equal((await fetchMark(stand.cache)).mark, 'foreign')
    const traffic = startTraffic(t, stand.cache)

    const site = await makeSite(stand, 'taken')
    await deploySite(stand, site)

    await untilAgreed(stand, site)
    t.same([...traffic.failures], [], 'from the foreign VCL to ours without an outage')
    t.same([...traffic.marks].toSorted(), ['foreign', 'taken-first'])
  })
})

/** Two heartbeats and whatever the coordinator answered to the first: what it wanted to say it has said. */
async function untilHeard(stand: Stand): Promise<void> {
  await eventually('two heartbeats', () => stand.link.count('heartbeat') >= 2)
}

async function untilAgreed(stand: Stand, site: Site): Promise<void> {
  await eventually('all agree', () => readAgreement(stand, site), agreementTimeoutMs)
}
