/** A deployed group whose caches have faults: one of three fails to compile, a child panics, a host has no coordinator. */
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fetchMark, listVcls } from '../support/observe-cache.js'
import { logIn, type GroupView } from '../support/api-client.js'
import { makeStateDir, runDaemon, startAgent } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { parallel } from '../support/parallel.js'
import {
  deploySite,
  editSite,
  expectDone,
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

t.jobs = 3

void t.test('one cache of three fails to compile', parallel(), async (t) => {
  const harness = await startHarness(t, { tags: ['trio'] })
  const { api, cache } = harness
  await untilAgent(harness, 'Running')
  const second = await addCache(t, harness, 'second')
  const third = await addCache(t, harness, 'third')
  const site = await makeSite(harness, 'site', { tag: 'trio', min: 2, max: 3 })
  const readPlaces = async () => (await api.readGroup(site.id)).agentStates
  await deploySite(harness, site)
  expectDone(await api.act(site.id, 'validate', '?agents=all'))

  const working = await breakCompiler(third)
  await editSite(harness, site, 'two-of-three')
  expectDone(await api.act(site.id, 'validate'))
  expectDone(await api.act(site.id, 'validate', '?agents=all')) // only parses the VCL
  t.match(readRefusal(await api.act(site.id, 'validate', '?agents=all&init=true'), 422), 'third')
  readRefusal(await api.act(site.id, 'validate', '?agents=some'), 400)

  await t.test('an organization compiles there within its budget', (t) =>
    checkBudget(t, harness, third, working),
  )

  await t.test('with keepOnFailure off, the failing cache drops what it served', async (t) => {
    expectDone(await api.call('PUT', `/vclgroups/${site.id}`, { keepOnFailure: false }))
    await deploySite(harness, site)
    t.equal((await fetchMark(cache)).mark, 'two-of-three')
    t.equal((await fetchMark(second)).mark, 'two-of-three')
    await eventually('the third cache is idle', async () => (await fetchMark(third)).status === 503)
    await eventually('it holds nothing else', async () => (await listVcls(third)).length === 1)
    t.same(await listVcls(third), ['cf-idle'])
    const failed = (await readPlaces()).filter(isFailed)
    t.match(failed, [{ agent: { name: 'third' }, revision: null }])
  })

  await t.test('a reload tries it again', async (t) => {
    await third.adm('param.set', 'cc_command', working)
    expectDone(await api.act(site.id, 'reload'))
    t.equal((await fetchMark(third)).mark, 'two-of-three')
    t.equal((await readPlaces()).filter(isFailed).length, 0)
  })

  await t.test('when max shrinks, the agent that was placed last leaves', async (t) => {
    const names = async () => (await readPlaces()).map(nameOf)
    const order = await names()
    const id = await findDeployment(harness)
    expectDone(await api.call('PUT', `/deployments/${id}`, { max: 2 }))
    await eventually('two remain', async () => (await names()).length === 2)
    t.same(await names(), order.slice(0, 2))
    readRefusal(await api.call('PUT', `/deployments/${id}`, { min: 4, max: 4 }), 409)
    expectDone(await api.call('PUT', `/deployments/${id}`, { max: 3 }))
    await eventually('all three are back', async () => {
      const applied = (await readPlaces()).filter(({ state }) => state === 'applied')
      return applied.length === 3
    })
  })

  await t.test('with keepOnFailure, a cache serves the old VCL until it restarts', async (t) => {
    expectDone(await api.call('PUT', `/vclgroups/${site.id}`, { keepOnFailure: true }))
    await breakCompiler(third)
    await editSite(harness, site, 'not-for-all')
    await deploySite(harness, site)
    t.equal((await fetchMark(third)).mark, 'two-of-three')
    const { revision, agentStates } = await api.readGroup(site.id)
    t.match(agentStates.filter(isFailed), [{ agent: { name: 'third' } }])
    await third.restart() // with a working compiler
    await untilServing(third, 'not-for-all')
    await eventually('all have applied it', async () => {
      const places = await readPlaces()
      return places.every((one) => one.state === 'applied' && one.revision === revision)
    })
  })

  await t.test('another agent takes its place, up to max, until it loads the VCL', async (t) => {
    const id = await findDeployment(harness)
    expectDone(await api.call('PUT', `/deployments/${id}`, { min: 1, max: 2 }))
    const appliedOnes = async () => {
      const { revision, agentStates } = await api.readGroup(site.id)
      return agentStates.filter((one) => one.state === 'applied' && one.revision === revision)
    }
    await eventually('one agent left', async () => (await readPlaces()).length === 2)
    const caches = new Map([
      ['edge', cache],
      ['second', second],
      ['third', third],
    ])
    const [kept = '', broken = ''] = (await appliedOnes()).map(nameOf)
    const brokenCache = caches.get(broken) ?? third
    await breakCompiler(brokenCache)
    await editSite(harness, site, 'filled')
    await deploySite(harness, site)
    await eventually('two serve it', async () => (await appliedOnes()).length === 2)
    t.notOk((await appliedOnes()).map(nameOf).includes(broken))
    t.ok((await appliedOnes()).map(nameOf).includes(kept))
    t.equal((await fetchMark(brokenCache)).mark, 'not-for-all', 'it still serves the old VCL')
    t.match((await readPlaces()).filter(isFailed), [{ agent: { name: broken } }])

    await brokenCache.restart() // with a working compiler
    await untilServing(brokenCache, 'filled')
    await eventually('the replacement leaves', async () => {
      const names = (await readPlaces()).map(nameOf)
      return names.toSorted().join() === [kept, broken].toSorted().join()
    })
    await eventually('both serve it', async () => (await appliedOnes()).length === 2)
  })
})

void t.test('one cache of two is Down', parallel(), async (t) => {
  const harness = await startHarness(t, { tags: ['trio'], heartbeatSeconds: 1 })
  const { api } = harness
  await untilAgent(harness, 'Running')
  const second = await addCache(t, harness, 'second')
  const site = await makeSite(harness, 'site', { tag: 'trio', min: 1, max: 2 })
  await deploySite(harness, site)
  await harness.agent.kill()
  await untilAgent(harness, 'Down')
  await editSite(harness, site, 'missed-by-one')
  await deploySite(harness, site)
  const history = await api.readHistory(site.id)

  await deploySite(harness, site)
  await deploySite(harness, site)
  t.same(await api.readHistory(site.id), history, 'an unchanged deploy creates no revision')
  t.equal((await api.readGroup(site.id)).revision, 2)

  expectDone(await api.act(site.id, 'rollback'))
  t.equal((await fetchMark(second)).mark, 'site-first', 'a rollback goes to other sources')
  expectDone(await api.act(site.id, 'reload'))
  expectDone(await api.act(site.id, 'rollback'))
  t.equal((await fetchMark(second)).mark, 'missed-by-one', 'also after a reload')
  harness.startAgent()
  await untilServing(harness.cache, 'missed-by-one')
  await untilAgent(harness, 'Running')

  await t.test('an agent that cannot store the source is named, and the deploy ends in time', (t) =>
    checkUnkept(t, harness, site),
  )
})

/** Puts a file in place of the agent's folder of sources: that fails writes of root, too, like a read-only disk. */
async function checkUnkept(t: Test, harness: Harness, site: Site): Promise<void> {
  const { api, agentStateDir } = harness
  const sources = join(agentStateDir, 'sources')
  await eventually('both serve', async () => (await api.readGroup(site.id)).stateName === 'Active')
  await rename(sources, `${sources}.away`)
  await writeFile(sources, '')
  await editSite(harness, site, 'by-one')
  expectDone(await api.act(site.id, 'deploy', '?wait=4'))
  const { stateName, agentStates } = await api.readGroup(site.id)
  t.equal(stateName, 'Degraded')
  t.match(agentStates.filter(isFailed), [{ agent: { name: 'edge' }, error: /^ENOTDIR/ }])
  await eventually('the agent reports the failure', async () => {
    const attempt = (await api.findAgent('edge'))?.config.lastAttempted
    return attempt?.error?.includes('ENOTDIR') === true
  })

  const id = await findDeployment(harness)
  expectDone(await api.call('PUT', `/deployments/${id}?force=true`, { min: 2, max: 2 }))
  await editSite(harness, site, 'by-both')
  t.match(readRefusal(await api.act(site.id, 'deploy', '?wait=4'), 503), /^edge: ENOTDIR/)
  await rm(sources)
  await rename(`${sources}.away`, sources)
  expectDone(await api.act(site.id, 'deploy'))
  t.equal((await fetchMark(harness.cache)).mark, 'by-both')
  t.equal((await api.readGroup(site.id)).stateName, 'Active')
}

/** The deployment of `site`. */
async function findDeployment({ api }: Harness): Promise<number> {
  const { text } = await api.call('GET', '/deployments?name=site')
  const [{ id = 0 } = {}] = JSON.parse(text) as { id?: number }[] // a list of deployments
  return id
}

const isFailed = ({ state }: GroupView['agentStates'][number]): boolean => state === 'failed'
const nameOf = ({ agent }: GroupView['agentStates'][number]): string => agent.name

/** On a shared agent, through the API of an organization. */
async function checkBudget(
  t: Test,
  harness: Harness,
  third: Varnishd,
  working: string,
): Promise<void> {
  const { api, coordinator } = harness
  const compiler = JSON.parse(working) as string // quoted
  const password = 'azure-password'
  const organization = { id: await api.make('/organizations', { name: 'azure' }) }
  await api.make('/accounts', { name: 'azure', password, organization })
  const own = await logIn(coordinator.base, { user: 'azure', password, org: 'azure' })
  const agent = (await api.listAgents()).find(({ name }) => name === 'third')
  const compile = (source: string, query = '') =>
    own.call('POST', `/files/compile${query}`, {
      mainVCL: { name: 'azure.vcl', source },
      agents: [{ id: agent?.id }],
    })
  const text = 'vcl 4.1;\nbackend default none;\n'

  expectDone(await compile(text))
  const labelled = `${text}sub vcl_recv { return (vcl(cf-l-1)); }\n`
  t.match(readRefusal(await compile(labelled), 422), /may not use return \(vcl/)
  await third.adm('param.set', 'cc_command', JSON.stringify(`sleep 5; ${compiler}`))
  const ended = { first: false }
  const first = compile(text, '?init=true').finally(() => (ended.first = true))
  const second = await eventually('one call is refused', async () => {
    const answer = await compile(text)
    return answer.status === 429 || ended.first ? answer : undefined
  })
  t.match(readRefusal(second, 429), /agent third: [^]*one text at a time/)
  t.equal(second.headers.get('retry-after'), '2')
  expectDone(await first)
  await third.adm('param.set', 'cc_command', JSON.stringify('exec false'))
}

/** Returns the value that repairs it. */
async function breakCompiler(cache: Varnishd): Promise<string> {
  const shown = JSON.parse(await cache.adm('param.show', '-j', 'cc_command')) as unknown[] // the envelope of -j
  const param = shown.find((part) => typeof part === 'object' && part && 'value' in part)
  await cache.adm('param.set', 'cc_command', '"exec false"')
  return JSON.stringify((param as { value: string }).value) // as just found
}

async function addCache(t: Test, harness: Harness, name: string): Promise<Varnishd> {
  const cache = await startVarnishd(t)
  startAgent(t, cache, {
    coordinatorUrl: harness.link.url,
    name,
    stateDir: await makeStateDir(t),
    tags: ['trio'],
    joinToken: await harness.api.makeJoinToken(),
  })
  await untilAgent(harness, 'Running', name)
  // While its compiler still works.
  await eventually('cf-idle is loaded', async () => (await listVcls(cache)).includes('cf-idle'))
  return cache
}

void t.test('a child that panics', parallel(), async (t) => {
  const harness = await startHarness(t)
  const { api, cache } = harness
  const { id } = await untilAgent(harness, 'Running')
  const readPanic = async (): Promise<string> => {
    const { text } = await api.call('GET', `/agents/${id}/panic`)
    return (JSON.parse(text) as { panic: string | null }).panic ?? '' // of this call
  }
  t.equal(await readPanic(), '')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)

  await cache.adm('debug.panic.worker').catch(() => '') // the connection ends before an answer
  const isCleared = async () => {
    return (await cache.adm('panic.show').catch((error: unknown) => String(error))).includes(
      'Child has not panicked',
    )
  }
  await eventually('the agent has read the panic and cleared it', isCleared)
  const first = await readPanic()
  t.match(first, /^Panic at: .*\n.*Assert error|panic/is)
  await untilServing(cache, 'site-first')
  t.equal((await readdir(join(harness.agentStateDir, 'panics'))).length, 1)

  await cache.adm('debug.panic.worker').catch(() => '')
  await eventually('the next panic is kept', async () => (await readPanic()) !== first)
  await eventually('and cleared', isCleared)
  await harness.agent.stop()
  harness.startAgent()
  await eventually('the panic is reported after a restart of the agent, too', async () =>
    (await readPanic()).startsWith('Panic at: '),
  )
})

void t.test('a host without a coordinator', parallel(), async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  const { api, cache, coordinator, agentStateDir } = harness
  await untilAgent(harness, 'Running')
  const rollback = (...words: readonly string[]) =>
    runDaemon(['rollback', ...words, '--state-dir', agentStateDir])
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  await editSite(harness, site, 'bad')
  await deploySite(harness, site)
  t.equal(await coordinator.daemon.stop(), 0)

  await t.test('a rollback on the host restores a good state without a coordinator', async (t) => {
    const traffic = startTraffic(t, cache)
    t.match(await rollback('99'), { code: 1, errors: /no good state 99/ })
    t.equal((await fetchMark(cache)).mark, 'bad')
    const done = await rollback()
    t.match(done, { code: 0, output: /rolled back on its host/, errors: '' })
    t.equal((await fetchMark(cache)).mark, 'site-first')
    t.same([...traffic.failures], [])
    const list = await rollback('--list')
    t.match(list.output, new RegExp(`^\\d+  2\\S+Z  cf-${site.id}-\\S+$`, 'm'))
    t.match(await rollback('nonsense'), { code: 78, errors: /usage/ })
  })

  await t.test('the good state remains through restarts of agent and cache', async () => {
    await cache.restart()
    await untilServing(cache, 'site-first')
    await harness.agent.kill()
    await cache.restart()
    harness.startAgent()
    await untilServing(cache, 'site-first')
  })

  await t.test('it remains until an administrator unlocks the agent', async (t) => {
    await coordinator.start()
    const agent = await untilAgent(harness, 'Locked')
    t.equal((await fetchMark(cache)).mark, 'site-first')
    readRefusal(await api.act(site.id, 'deploy'), 503)
    const told = await eventually('the agent reports the effect of an unlock', async () => {
      const { text } = await api.call('GET', `/agents/${agent.id}`)
      return /"difference":\{"use":"(?<active>cf-[^"]+)","load":\[[^]*\]/.exec(text)
    })
    expectDone(await api.call('PUT', `/agents/${agent.id}/unlock`))
    await untilServing(cache, 'bad')
    t.ok((await cache.adm('vcl.list')).includes(told.groups?.['active'] ?? 'nothing'))
    await untilAgent(harness, 'Running')
    await eventually('all agree', () => readAgreement(harness, site))
  })
})
