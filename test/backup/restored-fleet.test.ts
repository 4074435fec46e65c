/** Yesterday's coordinator meets agents that hold later deploys: it changes nothing by itself. */
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { answering, fetchMark } from '../support/observe-cache.js'
import {
  deploySite,
  editSite,
  makeSite,
  readRefusal,
  startHarness,
  startTraffic,
  untilAgent,
  untilServing,
} from '../end-to-end/harness.js'
import { logIn, type AgentView, type ApiClient } from '../support/api-client.js'
import { parallel } from '../support/parallel.js'
import {
  administrator,
  makeStateDir,
  runDaemon,
  startCoordinator,
  startDaemon,
  type CoordinatorProcess,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

const passphrase = 'a word that nobody guesses'
const fleetSize = 50

t.jobs = 3

async function backUp(t: Test, { stateDir }: CoordinatorProcess): Promise<string> {
  const file = join(await makeStateDir(t), 'fleet.backup')
  const ran = await runDaemon(['backup', file, '--state-dir', stateDir], { input: passphrase })
  t.match(ran, { code: 0, errors: '' })
  return file
}

/** Its data are lost; only the backup remains. */
async function startRestored(
  t: Test,
  coordinator: CoordinatorProcess,
  file: string,
): Promise<ApiClient> {
  const { stateDir, base } = coordinator
  await coordinator.daemon.kill()
  await rename(stateDir, `${stateDir}.lost`)
  t.teardown(() => rm(`${stateDir}.lost`, { recursive: true, force: true }))
  const ran = await runDaemon(['restore', file, '--state-dir', stateDir], { input: passphrase })
  t.match(ran, { code: 0, errors: '' })
  await coordinator.start()
  return logIn(base, administrator)
}

interface LockedView extends AgentView {
  readonly lockedBecause: string | null
  readonly config: AgentView['config'] & {
    readonly difference: { readonly use: string | null; readonly load: readonly string[] } | null
  }
}

async function readAgent(api: ApiClient, id: number): Promise<LockedView> {
  return JSON.parse((await api.call('GET', `/agents/${id}`)).text) as LockedView // of the API
}

void t.test('a cache keeps serving, and no command reaches it', parallel(), async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  const file = await backUp(t, harness.coordinator)
  await editSite(harness, site, 'today')
  await deploySite(harness, site)
  await untilServing(harness.cache, 'today')
  const traffic = startTraffic(t, harness.cache)
  harness.port.forget()

  const api = await startRestored(t, harness.coordinator, file)
  const { id } = await untilAgent({ api }, 'Locked')
  const agent = await readAgent(api, id)
  t.match(agent.lockedBecause, /holds revision \d+, the coordinator knows \d+/)
  const use = agent.config.difference?.use ?? ''
  t.match(use, new RegExp(`^cf-${site.id}-`), 'the difference shows the change of an unlock')
  readRefusal(await api.act(site.id, 'deploy'), 503)
  t.same(harness.port.changes(), [], 'no changing command was sent')
  t.same([...traffic.failures], [])
  t.equal((await fetchMark(harness.cache)).mark, 'today')

  t.equal((await api.call('PUT', `/agents/${id}/unlock`)).status, 200)
  await untilServing(harness.cache, 'site-first')
  await untilAgent({ api }, 'Running')
  t.same([...traffic.failures], [], 'switched back without an outage')
})

void t.test('deploys before an agent returns do not hide what it holds', parallel(), async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 60 })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  const file = await backUp(t, harness.coordinator)
  await editSite(harness, site, 'today')
  await deploySite(harness, site)
  const held = (await untilAgent(harness, 'Running')).config.effective.revision
  await harness.agent.kill()

  const api = await startRestored(t, harness.coordinator, file)
  await api.editFile(site.file, answering('tomorrow'))
  await eventually('its revision exceeds the one the agent holds', async () => {
    await api.act(site.id, 'deploy', '?wait=1')
    await api.act(site.id, 'cancel')
    return (await untilAgent({ api }, 'Running')).config.desired.revision > held
  })
  harness.port.forget()
  harness.startAgent()
  const { id } = await untilAgent({ api }, 'Locked')
  t.match((await readAgent(api, id)).lockedBecause, new RegExp(`^holds revision ${held}, the coor`))
  t.same(harness.port.changes(), [])
  t.equal((await fetchMark(harness.cache)).mark, 'today')

  t.equal((await api.call('PUT', `/agents/${id}/unlock`)).status, 200)
  await untilServing(harness.cache, 'site-first')
  harness.link.forget()
  await harness.agent.kill()
  harness.startAgent()
  await eventually('the coordinator welcomes it again', () => harness.link.count('welcome') > 0)
  await untilAgent({ api }, 'Running')
})

void t.test('fifty agents wait for an unlock', parallel(), async (t) => {
  const coordinator = await startCoordinator(t, { words: ['--no-agent', '--heartbeat', '2'] })
  const { api, port } = coordinator
  startDaemon(
    t,
    [
      ...['--no-agent', '--simulate', String(fleetSize), '--tags', 'web'],
      ...['--coordinator-url', `ws://127.0.0.1:${port}`, '--state-dir', await makeStateDir(t)],
    ],
    { CACHEFLEET_JOIN_TOKEN: await api.makeJoinToken(fleetSize) },
  )
  await untilAll(api, 'Running')
  const file = await api.makeFile('main.vcl', answering('yesterday'))
  const limits = { min: 1, max: fleetSize }
  const deployment = await api.makeDeployment('all', await api.findTag('web'), limits)
  const id = await api.makeGroup({ name: 'site', mainFile: file, deployment })
  const deploy = async (client: ApiClient): Promise<number> =>
    (await client.act(id, 'deploy')).status
  t.equal(await deploy(api), 200)
  const backup = await backUp(t, coordinator)
  await api.editFile(file, answering('today'))
  t.equal(await deploy(api), 200)
  const today = await listActive(api)

  const restored = await startRestored(t, coordinator, backup)
  const agents = await untilAll(restored, 'Locked')
  for (const agent of agents) {
    const { config } = await readAgent(restored, agent.id)
    t.ok(config.effective.revision > config.desired.revision, agent.name)
    t.match(config.difference?.use, /^cf-/, `${agent.name}: what an unlock would change`)
  }
  t.same(await listActive(restored), today, 'the active VCLs are unchanged')

  t.equal((await restored.call('PUT', '/agents/unlock', { all: true })).status, 200)
  await untilAll(restored, 'Running')
  await eventually('yesterday’s VCL is active', async () => {
    const active = await listActive(restored)
    return active.every((name, at) => name !== today[at])
  })
})

/** By agent, in order of agent names. */
async function listActive(api: ApiClient): Promise<readonly string[]> {
  const names = []
  for (const { id } of await listSorted(api)) {
    const { text, status } = await api.call('GET', `/agents/${id}/vcls`)
    if (status !== 200) throw new Error(`answered ${status}: ${text}`)
    const vcls = JSON.parse(text) as { readonly name: string; readonly status: string }[]
    names.push(vcls.find((vcl) => vcl.status === 'active')?.name ?? '')
  }
  return names
}

async function listSorted(api: ApiClient): Promise<readonly AgentView[]> {
  return (await api.listAgents()).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function untilAll(api: ApiClient, stateName: string): Promise<readonly AgentView[]> {
  return eventually(`all agents are ${stateName}`, async () => {
    const agents = await listSorted(api)
    const others = agents.filter((agent) => agent.stateName !== stateName)
    if (agents.length !== fleetSize || others.length > 0)
      throw new Error(`${agents.length} agents, ${others.length} are not`)
    return agents
  })
}
