/** Maintenance of a fleet of simulated caches: drains with the client, replacement of lost hosts, and the freeze of an organization. */
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { call, makeHome, type Ran } from '../cli/run-cli.js'
import { logIn, type AgentView, type ApiClient } from '../support/api-client.js'
import {
  makeStateDir,
  startCoordinator,
  startDaemon,
  type CoordinatorProcess,
  type Daemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { answering } from '../support/observe-cache.js'
import { checkFrozenRollout } from './frozen-rollout.js'

/** Longer than the wait of the client that must end before. */
const compileMs = 2_000

void t.test('a fleet under maintenance', async (t) => {
  const coordinator = await startCoordinator(t, {
    words: [
      ...['--no-agent', '--simulate', '4', '--heartbeat', '1'],
      ...['--simulate-compile-ms', String(compileMs)],
    ],
  })
  await t.test('caches are drained', (t) => checkDrains(t, coordinator))
  await t.test('a lost host is replaced', (t) => checkReplacing(t, coordinator))
  await t.test('an organization is frozen', (t) => checkFreeze(t, coordinator))
})

async function checkDrains(t: Test, { api, base }: CoordinatorProcess): Promise<void> {
  const home = await makeHome(t)
  const environment = { ...home, CACHEFLEET_SERVER: base, CACHEFLEET_TOKEN: api.token }
  const cli = (...words: string[]): Promise<Ran> => call(words, { environment })
  const drain = (agent: AgentView, ...words: string[]): Promise<Ran> =>
    cli('agents', 'drain', agent.name, '--reason', 'kernel update', ...words)
  const agents = await eventually('four agents are Running', async () => {
    const running = (await api.listAgents()).filter(({ stateName }) => stateName === 'Running')
    return running.length === 4 ? running : undefined
  })
  const named = (name: string): AgentView => {
    const found = agents.find((agent) => agent.name === name)
    if (!found) throw new Error(`no agent ${name}`)
    return found
  }
  const file = await api.makeFile('main.vcl', answering('site'))
  const tag = await api.findTag('simulated')
  const deployment = await api.makeDeployment('web', tag, { min: 2, max: 2 })
  const site = await api.makeGroup({ name: 'site', mainFile: file, deployment })
  t.equal((await api.act(site, 'deploy')).status, 200)
  const [first = '', second = ''] = await servingOf(api, site)
  const other = await api.makeGroup({
    name: 'other',
    mainFile: file,
    deployment: await api.makeDeployment('other', tag, { min: 2, max: 2 }),
  })

  await t.test('a wait that ends before the group has moved reports it', async (t) => {
    const { code, err } = await drain(named(first), '--wait', '1s')

    t.equal(code, exitCodes.unfinished, err)
    t.match(err, /site not moved after 1 s/)
  })

  await t.test('the group moves to another cache, and serves there', async (t) => {
    const { code, out, err } = await drain(named(first))

    t.equal(code, exitCodes.done, err)
    t.match(out, 'no group is left')
    const now = await servingOf(api, site)
    t.equal(now.length, 2)
    t.notOk(now.includes(first))
    t.ok(now.includes(second), 'the other place does not move')
    t.match(await readAgent(api, named(first)), {
      draining: { until: null, reason: 'kernel update', account: 'root' },
      problems: [{ code: 'draining', severity: 2 }],
    })
    const listed = await eventually('it is listed', async () => {
      const { text } = await api.call('GET', '/agents?problems.code=draining')
      return text.includes(first) ? text : undefined
    })
    t.notMatch(listed, second)
  })

  await t.test('a group that cannot move remains and serves', async (t) => {
    const rest = agents.filter(({ name }) => name !== first)
    const before = await servingOf(api, site)
    const [free] = rest.filter(({ name }) => !before.includes(name))
    if (free) await drain(free, '--wait', '0')
    const { code, out, err } = await drain(named(second))

    t.equal(code, exitCodes.done, err)
    t.match(out, /site stay, since no other agent that fits has room/)
    t.same(await servingOf(api, site), before)
    t.match(await api.act(other, 'deploy'), { status: 503, text: /it is drained/ })
  })

  await t.test('a drain ends at its time', async (t) => {
    const untilSeconds = Math.ceil(Date.now() / 1000) + 2
    const drained = await api.call('PUT', `/agents/${named(first).id}/drain`, {
      reason: 'short',
      until: untilSeconds,
    })
    t.match(JSON.parse(drained.text), { draining: { until: untilSeconds, reason: 'short' } })
    await eventually('the drain is over', async () => {
      const { draining } = (await readAgent(api, named(first))) as { draining: unknown }
      return draining === null
    })
    for (const until of [1, Math.floor(Date.now() / 1000)])
      t.match(
        await api.call('PUT', `/agents/${named(first).id}/drain`, { reason: 'late', until }),
        { status: 400, text: /must be in the future/ },
      )
  })

  await t.test('undrained agents get groups again', async (t) => {
    for (const { name } of agents) t.equal((await cli('agents', 'undrain', name)).code, 0)
    t.match(await readAgent(api, named(second)), { draining: null })
    await eventually('the pending deploy is made', async () => {
      return (await servingOf(api, other)).length === 2
    })
    t.equal((await servingOf(api, site)).length, 2)
    t.equal((await api.act(other, 'undeploy')).status, 200)
  })

  await t.test('a plan shows the changes of a deploy', async (t) => {
    const plan = () => cli('vclgroups', 'deploy', 'site', '--plan')
    t.match(await plan(), { code: exitCodes.done, out: /would change nothing/ })
    await api.editFile(file, answering('another'))
    const { code, out } = await plan()
    t.equal(code, exitCodes.changes)
    t.match(out, /^--- main.vcl version 1$/m)
    t.match(out, /^[+].*another/m)
    t.match(await cli('vclgroups', 'diff', 'site'), { code: exitCodes.changes, out })
    t.match(await cli('vclgroups', 'deploy', 'other', '--plan'), {
      code: exitCodes.changes,
      out: /^[+] .*-sim-.*: by deployment other$/m,
    })
    t.equal((await api.readGroup(site)).revision, 1, 'nothing was deployed')
    t.equal((await api.act(site, 'deploy')).status, 200)
    t.match(await cli('vclgroups', 'diff', 'site'), { code: exitCodes.done })
  })
}

async function checkReplacing(t: Test, { api, port }: CoordinatorProcess): Promise<void> {
  const startHost = async (name: string, tag: string): Promise<Daemon> =>
    startDaemon(
      t,
      [
        ...['--coordinator-url', `ws://127.0.0.1:${port}`, '--name', name, '--tags', tag],
        ...['--state-dir', await makeStateDir(t), '--engine', 'simulate'],
      ],
      { CACHEFLEET_JOIN_TOKEN: await api.makeJoinToken() },
    )
  const untilState = (name: string, state: string): Promise<AgentView> =>
    eventually(`${name} is ${state}`, async () => {
      const agent = await api.findAgent(name)
      return agent?.stateName === state ? agent : undefined
    })
  const host = await startHost('front', 'front')
  const lost = await untilState('front', 'Running')
  const file = await api.makeFile('front.vcl', answering('front'))
  const deployment = await api.makeDeployment('front', await api.findTag('front'))
  const group = await api.makeGroup({ name: 'front', mainFile: file, deployment })
  t.equal((await api.act(group, 'deploy')).status, 200)
  await startHost('spare', 'new')
  const spare = await untilState('spare', 'Running')
  const replace = (agent: AgentView, by: AgentView) =>
    api.call('PUT', `/agents/${agent.id}/replace`, { by: { id: by.id } })

  t.match(await replace(lost, spare), { status: 409, text: /is Running; only one that is Down/ })
  await host.kill()
  await untilState('front', 'Down')
  const [serving] = (await api.listAgents()).filter(({ name }) => name.includes('-sim-'))
  if (serving)
    t.match(await replace(serving, spare), { status: 409, text: /only one that is Down/ })
  t.match(await replace(lost, lost), { status: 409, text: /what replaces must be Running/ })
  t.match(await replace(lost, { ...spare, id: 99_999 }), { status: 400, text: /by: 99999/ })

  t.match(await replace(lost, spare), { status: 200, text: /"name":"front"/ })
  t.equal(await api.findAgent('spare'), undefined)
  const back = await untilState('front', 'Running')
  t.equal(back.id, lost.id)
  t.same(back.tags.map(({ name }) => name).toSorted(), ['front', 'new'])
  await eventually('the group serves on the new host', async () => {
    const { agentStates } = await api.readGroup(group)
    return agentStates.some(({ agent, state }) => agent.id === lost.id && state === 'applied')
  })
  t.equal((await api.findAgent('front'))?.id, lost.id, 'despite the new agent’s own name')
}

async function checkFreeze(t: Test, { api, base, daemon }: CoordinatorProcess): Promise<void> {
  const password = 'a password of tests'
  const organization = await api.make('/organizations', { name: 'red' })
  const [anna, bert] = [
    await api.make('/accounts', { name: 'anna', password }),
    await api.make('/accounts', { name: 'bert', password }),
  ]
  for (const account of [anna, bert])
    await api.call('PUT', `/organizations/${organization}/assign`, { account: { id: account } })
  await api.make('/permissions', {
    account: { id: bert },
    organization: { id: organization },
    type: 'vclgroup',
    write: true,
  })
  const administrator = await logIn(base, { user: 'anna', password, org: 'red' })
  const regular = await logIn(base, { user: 'bert', password, org: 'red' })
  const deployment = await administrator.makeDeployment('all', await api.findTag('simulated'))
  const [file, next] = [
    await administrator.makeFile('one.vcl', answering('one')),
    await administrator.makeFile('two.vcl', answering('two')),
  ]
  const group = await administrator.makeGroup({ name: 'red', mainFile: file, deployment })
  t.equal((await administrator.act(group, 'deploy')).status, 200)
  const path = `/organizations/${organization}`
  const frozen = { until: Math.floor(Date.now() / 1000) + 3600, reason: 'the sale' }

  t.match(await administrator.call('PUT', path, { frozen: { ...frozen, until: 1 } }), {
    status: 400,
    text: /frozen.until: 1 is over/,
  })
  t.equal((await regular.call('PUT', path, { frozen })).status, 403)
  t.equal((await administrator.call('PUT', path, { frozen, accessTTL: 60 })).status, 403)
  const set = await administrator.call('PUT', path, { frozen })
  t.match(JSON.parse(set.text), { frozen })
  t.equal((await administrator.call('PUT', path, JSON.parse(set.text))).status, 200)

  await administrator.call('PUT', `/vclgroups/${group}`, { mainVCL: { id: next } })
  for (const verb of ['deploy', 'reload', 'undeploy', 'delstage'])
    t.match(await administrator.act(group, verb), { status: 409, text: /frozen until .*the sale/ })
  t.match(await regular.act(group, 'deploy', '?force=true'), {
    status: 403,
    text: /only an administrator can override it/,
  })
  t.equal((await administrator.act(group, 'validate')).status, 200, 'it changes nothing')
  t.equal((await administrator.act(group, 'deploy', '?force=true')).status, 200)
  await eventually('it is logged as a warning', async () => {
    const { text } = await api.call('GET', '/apilogs?sort=id:desc&take=20')
    const logged = JSON.parse(text) as { msg: string; severity: number; status: number }[]
    return logged.some(
      ({ msg, severity, status }) => severity === 2 && status === 200 && /forced.*sale/.test(msg),
    )
  })
  t.equal((await administrator.act(group, 'rollback')).status, 200, 'so is a rollback')

  t.match(JSON.parse((await api.call('PUT', path, { frozen: null })).text), { frozen: null })
  t.equal((await regular.act(group, 'undeploy')).status, 200)
  await t.test('a pending deploy continues after the freeze', (t) =>
    checkHeldDeploy(t, { api, daemon, administrator, path, file }),
  )
  const tag = await api.findTag('simulated')
  await t.test('a freeze pauses a rollout, and only an administrator can continue it', (t) =>
    checkFrozenRollout(t, { administrator, regular, path, tag }),
  )
}

interface Held extends Pick<CoordinatorProcess, 'api' | 'daemon'> {
  readonly administrator: ApiClient
  /** The path of the organization. */
  readonly path: string
  readonly file: number
}

async function checkHeldDeploy(
  t: Test,
  { api, daemon, administrator, path, file: mainFile }: Held,
): Promise<void> {
  const deployment = await administrator.makeDeployment('late', await api.findTag('simulated'))
  const group = await administrator.makeGroup({ name: 'late', mainFile, deployment })
  const freeze = async (seconds: number | null): Promise<void> => {
    const until = Math.floor(Date.now() / 1000) + (seconds ?? 0)
    const frozen = seconds === null ? null : { until, reason: 'the sale' }
    t.equal((await api.call('PUT', path, { frozen })).status, 200)
  }
  const agents = (await api.listAgents()).filter(({ name }) => name.includes('-sim-'))
  const forAll = async (verb: string, body?: object): Promise<void> => {
    for (const { id } of agents)
      t.equal((await api.call('PUT', `/agents/${id}/${verb}`, body)).status, 200)
  }
  const untilServing = (): Promise<unknown> =>
    eventually('it serves', async () => (await servingOf(api, group)).length === 1)

  await forAll('drain', { reason: 'nobody is free' })
  t.equal((await administrator.act(group, 'deploy')).status, 503)
  await freeze(3600)
  await forAll('undrain')
  await eventually('placement would choose an agent', async () => {
    const { text } = await api.call('GET', `/vclgroups/${group}/placement`)
    return (JSON.parse(text) as { chosen: boolean }[]).some(({ chosen }) => chosen)
  })
  t.same(await servingOf(api, group), [])
  await freeze(null)
  await untilServing()
  t.equal((await administrator.act(group, 'undeploy')).status, 200)

  await forAll('drain', { reason: 'nobody is free' })
  t.equal((await administrator.act(group, 'deploy')).status, 503)
  await freeze(4)
  await forAll('undrain')
  await untilServing()
  t.notMatch(daemon.output(), /a pending deploy failed/, 'a deploy held by a freeze is no failure')
  t.equal((await administrator.act(group, 'undeploy')).status, 200)
}

async function servingOf(api: ApiClient, group: number): Promise<readonly string[]> {
  const { agentStates } = await api.readGroup(group)
  return agentStates
    .filter(({ state }) => state === 'applied')
    .map(({ agent }) => agent.name)
    .toSorted()
}

async function readAgent(api: ApiClient, { id }: AgentView): Promise<object> {
  return JSON.parse((await api.call('GET', `/agents/${id}`)).text) as object // of the API
}
