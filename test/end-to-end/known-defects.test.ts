/**
 * Defects of similar systems, according to their release notes, each with a test. Those that need a failing cache are in
 * cache-trouble.test.ts, exit codes in cli/deploy.test.ts, two groups on one cache in domains.test.ts.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { call, makeHome } from '../cli/run-cli.js'
import type { AgentView, ApiClient } from '../support/api-client.js'
import { makeStateDir, startCoordinator, type CoordinatorProcess } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { expectDone, readRefusal } from './harness.js'

const answer = (mark: string): string =>
  `vcl 4.1;\nbackend default none;\nsub vcl_recv { return (synth(200, "${mark}")); }\n`

interface Fleet {
  readonly coordinator: CoordinatorProcess
  readonly api: ApiClient
  readonly agents: readonly AgentView[]
}

async function startFleet(t: Test, count: number): Promise<Fleet> {
  const coordinator = await startCoordinator(t, {
    words: ['--no-agent', '--simulate', String(count), '--heartbeat', '3'],
  })
  const { api } = coordinator
  const agents = await eventually('all are Running', async () => {
    const running = (await api.listAgents()).filter(({ stateName }) => stateName === 'Running')
    return running.length === count ? running : undefined
  })
  return { coordinator, api, agents }
}

/** Gives these agents an additional tag, which only one test uses. */
async function tagAgents(api: ApiClient, name: string, agents: readonly AgentView[]) {
  const tag = await api.make('/tags', { name })
  for (const { id } of agents) await addTag(api, id, tag)
  return tag
}

async function addTag(api: ApiClient, agentId: number, tag: number): Promise<void> {
  const { text } = await api.call('GET', `/agents/${agentId}`)
  const { tags } = JSON.parse(text) as AgentView // as in its schema
  const body = { tags: [...tags.map(({ id }) => ({ id })), { id: tag }] }
  expectDone(await api.call('PUT', `/agents/${agentId}`, body))
}

async function read<T>(api: ApiClient, path: string): Promise<T> {
  const { status, text } = await api.call('GET', path)
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  return JSON.parse(text) as T // the caller names the type of the schema
}

void t.test('defects of other systems do not occur', async (t) => {
  const fleet = await startFleet(t, 4)
  const { api, agents } = fleet
  const [first, second, third] = agents as [AgentView, AgentView, AgentView] // of four
  const deployTo = async (name: string, on: readonly AgentView[], limits?: object) => {
    const tag = await tagAgents(api, name, on)
    return api.make('/deployments', { name, tags: [{ id: tag }], ...limits })
  }

  await t.test('a domain is deployed only once on a cache', async (t) => {
    const deployment = await deployTo('twice', [first])
    const domain = await api.make('/domains', { fqdn: 'twice.example' })
    const groups: number[] = []
    for (const name of ['one', 'two']) {
      const file = await api.makeFile(`twice-${name}.vcl`, answer(name))
      const parts = { deployments: [{ id: deployment }], domains: [{ id: domain }] }
      groups.push(await api.make('/vclgroups', { name, mainVCL: { id: file }, ...parts }))
    }
    const answers = await Promise.all(groups.map((id) => api.act(id, 'deploy')))
    t.same(answers.map(({ status }) => status).toSorted(), [200, 409], 'the first one succeeds')
    const [winner = 0, loser = 0] = answers[0]?.status === 200 ? groups : groups.toReversed()
    t.equal((await api.readGroup(loser)).deployed, false)
    const rows = await read<{ agent: { id: number }; reason: string }[]>(
      api,
      `/vclgroups/${loser}/placement`,
    )
    t.match(
      rows.find(({ agent }) => agent.id === first.id),
      { chosen: false, reason: /one of the domains/ },
    )
    expectDone(await api.act(winner, 'undeploy'))
    expectDone(await api.act(loser, 'deploy'))
    expectDone(await api.act(loser, 'undeploy'))
  })

  await t.test('a deploy does not change other groups that share a file', async (t) => {
    const include = await api.makeFile('shared.vcl', '# first\n', 2)
    const sites: number[] = []
    for (const [name, agent] of [
      ['left', first],
      ['right', second],
    ] as const) {
      const mainFile = await api.makeFile(`${name}.vcl`, `${answer(name)}include "shared.vcl";\n`)
      const deployment = await deployTo(name, [agent])
      sites.push(await api.makeGroup({ name, mainFile, includes: [include], deployment }))
    }
    const [left = 0, right = 0] = sites
    for (const id of sites) expectDone(await api.act(id, 'deploy'))
    const before = await api.readGroup(right)
    const names = async () =>
      (await read<{ name: string }[]>(api, `/agents/${second.id}/vcls`)).map(({ name }) => name)
    const loaded = await names()
    await api.editFile(include, '# second\n')

    expectDone(await api.act(left, 'deploy'))

    t.equal((await api.readGroup(left)).revision, 2)
    t.same(await api.readGroup(right), before, 'the other group is unchanged')
    t.same(await names(), loaded)
    t.equal((await api.call('PUT', `/files/${include}`, { name: 'renamed.vcl' })).status, 200)
    expectDone(await api.act(right, 'reload'))
    t.match(
      readRefusal(await api.act(right, 'deploy'), 422),
      /^right\.vcl line 4 pos 9: Cannot include "shared\.vcl"/,
      'a renamed file is reported at the next deploy; deployed files are pinned with their names',
    )
    t.match(await api.readGroup(right), { deployed: true, stateName: 'Active', revision: 2 })
    for (const id of sites) expectDone(await api.act(id, 'undeploy'))
  })

  await t.test('a change of the main file is noticed', async (t) => {
    const files = [answer('a'), answer('b'), answer('b')]
    const ids: number[] = []
    for (const [at, source] of files.entries())
      ids.push(await api.makeFile(`other-${at}.vcl`, source))
    const deployment = await deployTo('other', [first])
    const group = await api.makeGroup({ name: 'other', mainFile: ids[0] ?? 0, deployment })
    const revisions: (number | null)[] = []
    for (const id of ids) {
      expectDone(await api.call('PUT', `/vclgroups/${group}`, { mainVCL: { id } }))
      expectDone(await api.act(group, 'deploy'))
      revisions.push((await api.readGroup(group)).revision)
    }
    t.same(revisions, [1, 2, 2], 'by its content')
    expectDone(await api.act(group, 'undeploy'))
  })

  await t.test('a pinned main file that is also an include keeps its version', async (t) => {
    const file = await api.makeFile('pinned.vcl', answer('pinned'))
    await api.editFile(file, 'vcl 4.1;\nnonsense;\n')
    const deployment = await deployTo('pinned', [first])
    const parts = { deployments: [{ id: deployment }], includes: [{ id: file }] }
    const mainVCL = { id: file, version: 1 }
    const group = await api.make('/vclgroups', { name: 'pinned', mainVCL, ...parts })
    expectDone(await api.act(group, 'deploy'))
    t.equal((await api.readHistory(group))[0]?.mainVCL.version, 1)
    expectDone(await api.act(group, 'undeploy'))
  })

  await t.test('a group with several deployments recovers when one of them failed', async (t) => {
    const file = await api.makeFile('several.vcl', 'vcl 4.1;\nnonsense;\n')
    const deployments = [
      { id: await deployTo('several-1', [first]) },
      { id: await deployTo('several-2', [second, third], { min: 2, max: 2 }) },
    ]
    const body = { name: 'several', mainVCL: { id: file }, deployments }
    const group = await api.make('/vclgroups', body)
    readRefusal(await api.act(group, 'deploy'), 422)
    t.match(await api.readGroup(group), { stateName: 'Inactive', deployed: false, agentStates: [] })
    await api.editFile(file, answer('several'))
    expectDone(await api.act(group, 'deploy'))
    t.match(await api.readGroup(group), { stateName: 'Active', agentStates: { length: 3 } })
    expectDone(await api.act(group, 'undeploy'))
  })

  await t.test('errors do not name a file of another group that has the same text', async (t) => {
    const messages: string[] = []
    for (const name of ['theirs', 'ours']) {
      const mainFile = await api.makeFile(`${name}.vcl`, 'vcl 4.1;\nsame nonsense;\n')
      const deployment = await deployTo(name, [first])
      const group = await api.makeGroup({ name, mainFile, deployment })
      messages.push(readRefusal(await api.act(group, 'deploy'), 422))
    }
    t.match(messages, [/^theirs\.vcl line 2 pos 1: /, /^ours\.vcl line 2 pos 1: /])
    t.notMatch(messages[1], 'theirs')
  })

  await t.test('a deploy without deployments is refused', async (t) => {
    const file = await api.makeFile('nowhere.vcl', answer('nowhere'))
    const group = await api.make('/vclgroups', { name: 'nowhere', mainVCL: { id: file } })
    for (const verb of ['deploy', 'validate'])
      t.match(readRefusal(await api.act(group, verb), 409), 'has no deployments')
    t.match(await api.readGroup(group), { deployed: false, revision: 0 })

    const deployment = await deployTo('nowhere', [first])
    const at = `/vclgroups/${group}`
    expectDone(await api.call('PUT', at, { deployments: [{ id: deployment }] }))
    expectDone(await api.act(group, 'deploy'))
    expectDone(await api.call('PUT', at, { deployments: [] }))
    readRefusal(await api.act(group, 'deploy'), 409)
    t.match(await api.readGroup(group), { stateName: 'Active', revision: 1 }, 'it still serves')
    const rows = await read<{ agent: { id: number } }[]>(api, `${at}/placement`)
    t.match(
      rows.find(({ agent }) => agent.id === first.id),
      { chosen: true, deployment: { id: deployment, name: 'nowhere' } },
      'according to the deployed deployments',
    )
    expectDone(await api.act(group, 'undeploy'))
  })

  await t.test('a pending deploy that does not compile is not retried without end', async (t) => {
    const tag = await api.make('/tags', { name: 'late' })
    const deployment = await api.make('/deployments', { name: 'late', tags: [{ id: tag }] })
    const mainFile = await api.makeFile('late.vcl', 'vcl 4.1;\nnonsense;\n')
    const group = await api.makeGroup({ name: 'late', mainFile, deployment })
    readRefusal(await api.act(group, 'deploy'), 503)
    const tries = () =>
      fleet.coordinator.daemon.lines().filter(({ msg }) => msg.startsWith('deploy: loading'))
    const before = tries().length
    await addTag(api, first.id, tag)
    await eventually('its agent fits, and the cache fails to compile', async () => {
      const [newest] = await api.readHistory(group)
      return newest?.result.startsWith('late.vcl line 2 pos 1: ')
    })

    // Placement passes continue: another group follows its agents three times.
    const deployments = await deployTo('passing', [second], { max: 3 })
    const passing = await api.makeGroup({
      name: 'passing',
      deployment: deployments,
      mainFile: await api.makeFile('passing.vcl', answer('passing')),
    })
    expectDone(await api.act(passing, 'deploy'))
    const passingTag = await api.findTag('passing')
    for (const [at, agent] of agents.slice(2).entries()) {
      await addTag(api, agent.id, passingTag)
      await eventually('it is placed there', async () => {
        const { agentStates } = await api.readGroup(passing)
        return agentStates.filter(({ state }) => state === 'applied').length === at + 2
      })
    }
    t.equal(tries().length, before + 2, 'once each: the pending deploy, and the other group')
    t.match(await api.readGroup(group), { deployed: true, stateName: 'Error' }, 'it is kept')
    t.equal((await api.readHistory(group)).length, 2)

    await api.editFile(mainFile, answer('late'))
    expectDone(await api.act(group, 'deploy'))
    t.match(await api.readGroup(group), { stateName: 'Active' })
    for (const id of [group, passing]) expectDone(await api.act(id, 'undeploy'))
  })

  await t.test('a list and the object agree on the deployed state', async (t) => {
    const deployment = await deployTo('agreed', [first])
    const mainFile = await api.makeFile('agreed.vcl', answer('agreed'))
    const group = await api.makeGroup({ name: 'agreed', mainFile, deployment })
    const listed = async () =>
      (await read<object[]>(api, `/vclgroups?name=agreed&deployed=true`)).length === 1
    t.equal(await listed(), false)
    t.equal((await api.act(group, 'deploy', '?wait=0')).status, 202)
    t.ok((await api.readGroup(group)).deployed)
    t.equal(await listed(), true)
    await eventually('it serves', async () => (await api.readGroup(group)).stateName === 'Active')
    t.equal(await listed(), true)
    expectDone(await api.act(group, 'undeploy'))
    t.equal(await listed(), false)
  })

  await t.test('files can be compiled before they are in a group', (t) => checkCompile(t, fleet))
})

async function checkCompile(t: Test, { coordinator, api, agents }: Fleet): Promise<void> {
  const compile = (body: object) => api.call('POST', '/files/compile', body)
  const main = `${answer('loose')}include "part.vcl";\n`
  const id = await api.makeFile('loose.vcl', main)
  const part = await api.makeFile('part.vcl', '# stored\n', 2)
  const before = await read<object[]>(api, `/agents/${agents[0]?.id ?? 0}/vcls`)
  const done = await compile({ mainVCL: { id }, includes: [{ id: part }] })
  expectDone(done)
  t.match(JSON.parse(done.text), { agents: { length: 1 } })
  const all = { agents: agents.map((agent) => ({ id: agent.id })) }
  t.match(
    JSON.parse((await compile({ mainVCL: { name: 'x', source: answer('x') }, ...all })).text),
    {
      agents: agents.map(({ id, name }) => ({ id, name })),
    },
  )
  const given = { name: 'part.vcl', source: '\nnonsense;\n' }
  const told = readRefusal(await compile({ mainVCL: { id }, includes: [given], ...all }), 422)
  t.match(told, /^part\.vcl line 2 pos 1: [^]*nonsense[^]*: agents .*00001, .*00004\)$/)
  t.match(readRefusal(await compile({ mainVCL: { id } }), 422), /^loose\.vcl line 4 pos 9: Cannot/)
  const labelled = { name: 'x', source: 'vcl 4.1;\nsub vcl_recv { return (vcl(cf-l-1)); }\n' }
  const asDomains = await compile({ mainVCL: labelled, root: false })
  t.match(readRefusal(asDomains, 422), /^x line 2 pos 27: return \(vcl/)
  const refused = [
    [{ mainVCL: { name: 'x' } }, 'mainVCL'],
    [{ mainVCL: { id: 987654 } }, '987654'],
    [{ mainVCL: { id, version: 9 } }, 'version'],
    [{ mainVCL: { id }, includes: [{ id: part }, given] }, 'same name'],
    [{ mainVCL: { id }, agents: [{ id: 987654 }] }, 'agents'],
    [{ mainVCL: { id }, agents: [] }, 'agents'],
    [{}, 'mainVCL'],
  ] as const
  for (const [body, word] of refused) t.match(readRefusal(await compile(body), 400), word)
  t.same(await read(api, `/agents/${agents[0]?.id ?? 0}/vcls`), before, 'no VCL is left')

  const folder = await makeStateDir(t)
  const path = join(folder, 'local.vcl')
  await writeFile(path, main)
  const home = await makeHome(t)
  const environment = { ...home, CACHEFLEET_SERVER: coordinator.base, CACHEFLEET_TOKEN: api.token }
  const cli = (...words: string[]) => call(['files', 'compile', ...words], { environment })
  t.match(await cli(path, '--includes', 'part.vcl'), { code: 0, out: /^compiles on \S+\n$/ })
  const last = agents[3]?.name ?? ''
  t.match(await cli('loose.vcl', '--includes', String(part), '--agents', last), {
    code: 0,
    out: `compiles on ${last}\n`,
  })
  t.match(await cli(path), { code: 1, out: '', err: /local\.vcl line 4 pos 9: Cannot include/ })
  await writeFile(join(folder, 'part.vcl'), 'include "deep.vcl";\n')
  await writeFile(join(folder, 'deep.vcl'), 'sub deep { nonsense; }\n')
  t.match(await cli(path), { code: 1, err: /deep\.vcl line 1 pos 12/ }, 'a file beside it')
  await writeFile(join(folder, 'deep.vcl'), 'sub vcl_deliver { }\n')
  t.match(await cli(path), { code: 0, out: /^compiles on \S+\n$/ })
  t.match(await cli(path, '--includes', String(part)), { code: 0 }, 'named files win')
  await writeFile(join(folder, 'part.vcl'), 'include "../outside.vcl";\n')
  await writeFile(join(folder, '..', 'outside.vcl'), '')
  t.match(await cli(path), { code: 1, err: /part\.vcl line 1 pos 9: Cannot include/ })
  t.match(await cli('no-such.vcl'), { code: 1, err: /no-such\.vcl" was not found/ })
}
