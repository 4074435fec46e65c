/** One process for everything: a coordinator with its own cache, real or simulated, and the processes that it leaves behind. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fileTypes } from '../../src/resources/file.js'
import { fetchMark } from '../support/observe-cache.js'
import { startCoordinator, type CoordinatorProcess } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { parallel } from '../support/parallel.js'
import {
  agentTag,
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readRefusal,
  untilAgent,
  type Site,
} from './harness.js'

/** In parallel: each test has its own coordinator, and mostly waits. */
t.jobs = 3

void t.test('a coordinator alone has a private real cache', parallel(), async (t) => {
  const coordinator = await startCoordinator(t, {
    words: ['--name', 'solo', '--tags', agentTag, '--heartbeat', '1'],
  })
  const { api, stateDir } = coordinator
  const agent = await untilAgent({ api }, 'Running', 'solo')
  t.match(agent.engineVersion, /^\d+\.\d+\.\d+$/, 'a real one')
  t.notOk([6081, 6082].includes(agent.enginePort), "not the host's own")
  const at = { host: '127.0.0.1', httpPort: agent.enginePort }
  const site = await makeSite({ api }, 'solo')
  await deploySite({ api }, site)
  t.equal((await fetchMark(at)).mark, 'solo-first')

  await t.test('the next daemon ends the cache of a killed one, and serves again', async (t) => {
    const left = await readCachePid(stateDir)
    await coordinator.daemon.kill()
    t.ok((await listProcesses(stateDir)).includes(left), 'the cache outlives the daemon')
    t.equal((await fetchMark(at)).mark, 'solo-first', 'and still serves')

    await coordinator.start()

    await eventually('Running again, with another cache', async () => {
      const now = await readCachePid(stateDir)
      const serving = await api.findAgent('solo')
      return now !== left && serving?.stateName === 'Running'
    })
    t.notOk((await listProcesses(stateDir)).includes(left))
    const next = await untilAgent({ api }, 'Running', 'solo')
    const nextAt = { host: '127.0.0.1', httpPort: next.enginePort }
    await eventually('it serves the same VCL', async () => {
      return (await fetchMark(nextAt)).mark === 'solo-first'
    })
    await editSite({ api }, site, 'afterwards')
    await eventually('a deploy works', async () => {
      return (await api.act(site.id, 'deploy')).status === 200
    })
    t.equal((await fetchMark(nextAt)).mark, 'afterwards')
  })

  await t.test('its tests run before it is deployed', (t) => checkTests(t, coordinator, site))

  await t.test('SIGTERM ends all processes in time', async (t) => {
    t.equal(await coordinator.daemon.stop(), 0) // after more than 10 s, it would be 1
    t.same(await listProcesses(stateDir), [])
  })
})

/** By default, the agent runs tests beside the cache that it spawned. */
async function checkTests(t: Test, { api }: CoordinatorProcess, site: Site): Promise<void> {
  t.ok((await api.findAgent('solo'))?.capabilities.includes('tests'))
  const { revision } = await api.readGroup(site.id)
  const promises = (mark: string) =>
    `steps:\n  - request: {url: /}\n    expect: {status: 200, headers: {X-Marker: ${mark}}}\n`
  const test = await api.makeFile('solo.test.yaml', promises('promised'), fileTypes.test)
  const at = `/vclgroups/${site.id}`
  await api.call('PUT', at, { tests: [{ id: test }] })
  await editSite({ api }, site, 'other')
  const told =
    /^solo\.test\.yaml line 2: step 1: expected header X-Marker "promised", got "other"\n {2}GET \/, in the log[^]*VCL_call +SYNTH/
  t.match(readRefusal(await api.act(site.id, 'validate'), 422), told)
  t.match(readRefusal(await api.act(site.id, 'deploy'), 422), told)
  t.match(await api.readGroup(site.id), { revision, stateName: 'Active' })
  t.match((await api.readHistory(site.id))[0], { revision: null, action: 'deploy', result: told })

  await api.editFile(test, promises('other'))
  const passed = await api.act(site.id, 'deploy')
  expectDone(passed)
  t.notOk('warnings' in JSON.parse(passed.text))

  await editSite({ api }, site, 'untested')
  expectDone(await api.act(site.id, 'deploy', '?tests=skip'))
  await eventually('it is in the API log', async () => {
    const { text } = await api.call('GET', '/apilogs')
    return text.includes('group \\"solo\\" without its tests')
  })
  t.match(await api.readGroup(site.id), { revision: Number(revision) + 2, stateName: 'Active' })

  await api.editFile(site.file, 'vcl 4.1;\nbackend default none;\nnonsense\n')
  t.match(readRefusal(await api.act(site.id, 'deploy'), 422), /solo\.vcl line 3 pos 1/)
  await api.call('PUT', at, { tests: null })
}

void t.test('a deploy to a simulated cache works', parallel(), async (t) => {
  const coordinator = await startCoordinator(t, {
    words: ['--name', 'unreal', '--tags', agentTag, '--engine', 'simulate', '--heartbeat', '1'],
  })
  const { api } = coordinator
  await untilAgent({ api }, 'Running', 'unreal')
  const site = await makeSite({ api }, 'unreal')
  await deploySite({ api }, site)
  await api.editFile(site.file, 'vcl 4.1;\nbackend default none;\nsub vcl_recv {\n')
  readRefusal(await api.act(site.id, 'deploy'), 422)
  t.match(await api.readGroup(site.id), { stateName: 'Active', revision: 1 })
  t.equal(await coordinator.daemon.stop(), 0)
})

void t.test('--simulate 20 --no-agent: a deploy to twenty agents works', parallel(), async (t) => {
  const coordinator = await startCoordinator(t, {
    words: ['--no-agent', '--simulate', '20', '--name', 'many', '--tags', agentTag],
  })
  const { api } = coordinator
  await untilRunning(coordinator, 20)
  t.match((await api.listAgents()).map(({ name }) => name).toSorted(), [
    'many-sim-00001',
    'many-sim-00002',
  ])
  const site = await makeSite({ api }, 'many', { tag: 'simulated', min: 20, max: 20 })
  await deploySite({ api }, site)
  const group = await api.readGroup(site.id)
  t.equal(group.agentStates.filter(({ state }) => state === 'applied').length, 20)
  t.equal(group.stateName, 'Active')

  await coordinator.daemon.kill()
  await coordinator.start()
  await untilRunning(coordinator, 20)
  t.equal((await api.listAgents()).length, 20, 'with their keys, they are the same agents')
  // Their caches ended with the process; the agents receive their desired state again.
  await eventually('all hold it again', async () => {
    const agents = await api.listAgents()
    return agents.every(
      ({ config }) =>
        config.effective.revision > 0 && config.effective.revision === config.desired.revision,
    )
  })
  t.match(await api.readGroup(site.id), { stateName: 'Active', revision: 1 })
})

async function untilRunning({ api }: CoordinatorProcess, count: number): Promise<void> {
  await eventually(`${count} agents are Running`, async () => {
    const agents = await api.listAgents()
    return agents.filter(({ stateName }) => stateName === 'Running').length === count
  })
}

async function readCachePid(stateDir: string): Promise<number> {
  const text = await readFile(join(stateDir, 'engine', 'process.json'), 'utf8')
  return (JSON.parse(text) as { pid: number }).pid // written with the spawned cache
}

/** The processes with the state dir in their arguments: the daemon and its cache. */
async function listProcesses(stateDir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return words.includes(stateDir) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}
