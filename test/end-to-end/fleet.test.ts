/** Fleets of simulated caches in their own processes, which stop, return and arrive in large numbers: the placement of a group. */
import t, { type Test } from 'tap'
import { answering } from '../support/observe-cache.js'
import type { ApiClient } from '../support/api-client.js'
import { makeStateDir, startCoordinator, startDaemon, type Daemon } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'

interface Fleet {
  readonly api: ApiClient
  readonly url: string
  readonly groupId: number
}

void t.test('a fleet of six', async (t) => {
  const { api, port } = await startCoordinator(t, { words: ['--no-agent', '--heartbeat', '1'] })
  const url = `ws://127.0.0.1:${port}`
  const north = await startHost(t, { api, url }, { name: 'north', simulated: 1 })
  await untilStates(api, 'north', ['Running', 'Running'])
  const file = await api.makeFile('main.vcl', answering('fleet'))
  const limits = { min: 1, max: 2 }
  const deployment = await api.makeDeployment('web', await api.findTag('web'), limits)
  const groupId = await api.makeGroup({ name: 'site', mainFile: file, deployment })
  t.equal((await api.act(groupId, 'deploy')).status, 200)
  const fleet = { api, url, groupId }
  const south = await startHost(t, fleet, { name: 'south', simulated: 3 })
  await untilStates(api, 'south', ['Running', 'Running', 'Running', 'Running'])
  t.same(await hostsOf(fleet), ['north', 'north'])

  await t.test('a Down agent frees its place, and drops the group when it returns', async (t) => {
    north.signal('SIGSTOP')
    await eventually('the south serves', async () => (await serving(fleet)) === 'south south')
    north.signal('SIGCONT')
    await untilStates(api, 'north', ['Running', 'Running'])
    await untilIdle(api, 'north')
    t.same(await hostsOf(fleet), ['south', 'south'])
  })

  await t.test('while most of the fleet is Down, no place moves until a deploy', async (t) => {
    const before = await api.readGroup(groupId)
    south.signal('SIGSTOP')
    await untilStates(api, 'south', ['Down', 'Down', 'Down', 'Down'])
    await eventually('placement has considered it', async () => {
      const { text } = await api.call('GET', `/vclgroups/${groupId}/placement`)
      return text.includes('went Down with most of the fleet')
    })
    t.same(await hostsOf(fleet), ['south', 'south'])
    t.equal((await api.readGroup(groupId)).revision, before.revision)

    t.equal((await api.act(groupId, 'deploy')).status, 200)
    t.equal(await serving(fleet), 'north north')
    south.signal('SIGCONT')
    await untilStates(api, 'south', ['Running', 'Running', 'Running', 'Running'])
    await untilIdle(api, 'south')
    t.same(await hostsOf(fleet), ['north', 'north'])
  })

  await t.test('sixty arriving agents are placed', async () => {
    await startHost(t, fleet, { name: 'crowd', simulated: 60 })
    const change = await api.call('PUT', `/deployments/${deployment}`, { max: 100 })
    t.equal(change.status, 200)
    await eventually('all 67 serve', async () => {
      const { agentStates } = await api.readGroup(groupId)
      return agentStates.filter(({ state }) => state === 'applied').length === 67
    })
  })
})

async function startHost(
  t: Test,
  { api, url }: Pick<Fleet, 'api' | 'url'>,
  { name, simulated }: { readonly name: string; readonly simulated: number },
): Promise<Daemon> {
  const stateDir = await makeStateDir(t)
  return startDaemon(
    t,
    [
      ...['--coordinator-url', url, '--name', name, '--tags', 'web', '--state-dir', stateDir],
      ...['--engine', 'simulate', '--simulate', String(simulated)],
    ],
    { CACHEFLEET_JOIN_TOKEN: await api.makeJoinToken(simulated + 1) },
  )
}

async function agentsOf(api: ApiClient, host: string) {
  return (await api.listAgents()).filter(({ name }) => name.startsWith(host))
}

async function untilStates(api: ApiClient, host: string, states: readonly string[]): Promise<void> {
  await eventually(`${host} is ${states.join()}`, async () => {
    const now = (await agentsOf(api, host)).map(({ stateName }) => stateName)
    if (now.join() !== states.join()) throw new Error(`it is ${now.join()}`)
    return true
  })
}

async function untilIdle(api: ApiClient, host: string): Promise<void> {
  for (const { id, name } of await agentsOf(api, host))
    await eventually(`${name} holds the idle VCL alone`, async () => {
      const { text } = await api.call('GET', `/agents/${id}/vcls`)
      const names = (JSON.parse(text) as { name: string }[]).map((vcl) => vcl.name) // rows of VCLs
      if (names.join() !== 'cf-idle') throw new Error(text)
      return true
    })
}

/** The host of each place, in the order of placement. */
async function hostsOf({ api, groupId }: Fleet): Promise<string[]> {
  const { agentStates } = await api.readGroup(groupId)
  return agentStates.map(({ agent }) => agent.name.replace(/-sim-\d+$/, ''))
}

/** The hosts, once all of them serve. */
async function serving(fleet: Fleet): Promise<string> {
  const { agentStates } = await fleet.api.readGroup(fleet.groupId)
  const isServing = agentStates.every(({ state }) => state === 'applied')
  return isServing ? (await hostsOf(fleet)).join(' ') : 'not all serve'
}
