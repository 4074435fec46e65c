/** The life of a deployed group on real caches: back to earlier revisions, compiled anew, several callers at once; and what a host can do alone. */
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fetchMark, listVcls } from '../agent/cache-sight.js'
import type { GroupView } from '../support/api-client.js'
import { makeStateDir, runDaemon, startAgent } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readAgreement,
  readRefusal,
  startStand,
  startTraffic,
  untilAgent,
  untilServing,
  type Site,
  ways,
  type Stand,
} from './stand.js'

/** A new object each time: tap keeps what it is given, and writes into it. */
const lane = () => ({ buffered: true, timeout: 220_000 })
t.jobs = 5

function rollBack({ api }: Stand, site: Site, revision?: unknown) {
  return api.call(
    'PUT',
    `/vclgroups/${site.id}/rollback`,
    revision === undefined ? {} : { revision },
  )
}

/** Revision, action and version of the newest entry. */
async function newestOf({ api }: Stand, site: Site): Promise<string> {
  const [entry] = await api.readHistory(site.id)
  return `${entry?.revision ?? 'none'} ${entry?.action} v${entry?.mainVCL.version}`
}

for (const [way, coordinators] of ways)
  void t.test(`back and forth, ${way}`, lane(), async (t) => {
    const stand = await startStand(t, { coordinators })
    await untilAgent(stand, 'Running')
    const site = await makeSite(stand, 'site')
    await t.test('a group that was never deployed has nothing to go back to', (t) =>
      checkNeverDeployed(t, stand, site),
    )
    await t.test('a rollback is a switch', (t) => checkRollback(t, stand, site))
    await t.test('what is loaded no more is compiled again', (t) => checkFarBack(t, stand, site))
    await t.test('a reload compiles the same under a new name', (t) => checkReload(t, stand, site))
    await t.test('who comes later waits, or is told', (t) => checkAtOnce(t, stand, site))
    await t.test('after an undeploy it goes back to what was served last', (t) =>
      checkUndeployed(t, stand, site),
    )
    await t.test('with domains it moves the label', (t) => checkDomains(t, stand, site))
  })

async function checkNeverDeployed(t: Test, stand: Stand, site: Site): Promise<void> {
  readRefusal(await rollBack(stand, site), 404)
  readRefusal(await stand.api.act(site.id, 'reload'), 409)
  t.same(await stand.api.readHistory(site.id), [])
}

async function checkRollback(t: Test, stand: Stand, site: Site): Promise<void> {
  const { cache, port } = stand
  await deploySite(stand, site)
  await editSite(stand, site, 'second')
  await deploySite(stand, site)
  const [first] = (await listVcls(cache)).filter((name) => name.startsWith(`cf-${site.id}-`))
  const traffic = startTraffic(t, cache)

  port.forget()
  expectDone(await rollBack(stand, site))
  t.equal((await fetchMark(cache)).mark, 'site-first')
  t.match(port.changes(), [/^vcl\.use cf-/], 'one command')
  t.equal(await newestOf(stand, site), '3 rollback v1')
  t.equal(await readAgreement(stand, site), 'site-first')

  port.forget()
  expectDone(await rollBack(stand, site))
  t.equal((await fetchMark(cache)).mark, 'second', 'and back again')
  t.match(port.changes(), [/^vcl\.use cf-/])
  t.equal(await newestOf(stand, site), '4 rollback v2')
  t.ok((await listVcls(cache)).includes(first ?? ''))

  port.forget()
  expectDone(await rollBack(stand, site, 2))
  t.same(port.changes(), [], 'what serves already is not changed')
  t.equal(await newestOf(stand, site), '4 rollback v2')
  t.match(readRefusal(await rollBack(stand, site, 99), 404), '99')
  readRefusal(await rollBack(stand, site, 'first'), 400)
  t.same([...traffic.failures], [])
}

async function checkFarBack(t: Test, stand: Stand, site: Site): Promise<void> {
  await editSite(stand, site, 'third')
  await deploySite(stand, site)
  expectDone(await rollBack(stand, site, 1))
  t.equal(await readAgreement(stand, site), 'site-first')
  t.equal(await newestOf(stand, site), '6 rollback v1')
  t.equal((await listVcls(stand.cache)).length, 3, 'what serves, what served before, the idle VCL')
}

async function checkReload(t: Test, stand: Stand, site: Site): Promise<void> {
  const { api, cache, port } = stand
  const before = await listVcls(cache)
  const traffic = startTraffic(t, cache)
  await editSite(stand, site, 'edited-later')
  port.forget()
  expectDone(await api.act(site.id, 'reload'))
  t.match(port.changes(), [/^vcl\.inline /, /^vcl\.use /, /^vcl\.discard /])
  t.equal(await readAgreement(stand, site), 'site-first', 'of the same sources, not the newest')
  t.equal(await newestOf(stand, site), '7 reload v1')
  const [name] = (await listVcls(cache)).filter((one) => !before.includes(one))
  t.match(name, new RegExp(`^cf-${site.id}-[0-9a-f]{8}-\\d+$`))
  t.same([...traffic.failures], [])
  t.same([...traffic.marks], ['site-first'])
}

async function checkAtOnce(t: Test, stand: Stand, site: Site): Promise<void> {
  const { api, cache, port } = stand
  await editSite(stand, site, 'one-of-two')
  let release = (): void => undefined
  const gate = new Promise<void>((resume) => (release = resume))
  const sprung = port.trap({ name: 'vcl.inline', moment: 'before', fate: 'pass', act: () => gate })
  const first = api.act(site.id, 'deploy')
  await eventually('it loads', async () => (await api.readGroup(site.id)).state === 6)
  t.match(readRefusal(await api.act(site.id, 'deploy', '?wait=0'), 409), 'in progress')
  for (const verb of ['undeploy', 'reload', 'rollback'])
    readRefusal(await api.act(site.id, verb, '?wait=0'), 409)
  const second = api.act(site.id, 'deploy')
  release()
  await sprung
  expectDone(await first)
  expectDone(await second)
  t.equal(await newestOf(stand, site), '8 deploy v5', 'the second found it done')
  t.equal(await readAgreement(stand, site), 'one-of-two')

  await editSite(stand, site, 'or-nothing')
  const [deployed, undeployed] = await Promise.all([
    api.act(site.id, 'deploy'),
    api.act(site.id, 'undeploy'),
  ])
  expectDone(deployed)
  expectDone(undeployed)
  const group = await api.readGroup(site.id)
  if (group.deployed) t.equal(await readAgreement(stand, site), 'or-nothing')
  else t.same(await listVcls(cache), ['cf-idle'])
  if (group.deployed) expectDone(await api.act(site.id, 'undeploy'))
}

async function checkUndeployed(t: Test, stand: Stand, site: Site): Promise<void> {
  readRefusal(await stand.api.act(site.id, 'reload'), 409)
  const { revision } = await stand.api.readGroup(site.id)
  expectDone(await rollBack(stand, site))
  const group = await stand.api.readGroup(site.id)
  t.match(group, { deployed: true, revision: (revision ?? 0) + 1 })
  await readAgreement(stand, site)
}

async function checkDomains(t: Test, stand: Stand, site: Site): Promise<void> {
  const { api, cache, port } = stand
  const domain = await api.call('POST', '/domains', { fqdn: 'www.example.com' })
  const { id } = JSON.parse(domain.text) as { id: number } // what was made
  expectDone(await api.call('PUT', `/vclgroups/${site.id}`, { domains: [{ id }] }))
  await editSite(stand, site, 'domain-first')
  await deploySite(stand, site)
  await editSite(stand, site, 'domain-second')
  await deploySite(stand, site)
  const { revision } = await api.readGroup(site.id)

  port.forget()
  expectDone(await rollBack(stand, site))
  t.match(port.changes(), [new RegExp(`^vcl\\.label cf-l-${site.id} `)], 'one command')
  const label = port.changes()[0]?.split(' ')[2] ?? ''
  t.match(await cache.adm('vcl.show', label), 'domain-first')

  expectDone(await rollBack(stand, site, (revision ?? 0) - 2))
  t.equal((await fetchMark(cache)).status, 200, 'and back to when its VCL was the whole one')
  await readAgreement(stand, site)
}

void t.test('what cooled down', lane(), async (t) => {
  const stand = await startStand(t, {
    agentWords: ['--warmup', '60'],
    cacheWords: ['-p', 'vcl_cooldown=1'],
  })
  const { api, cache, port } = stand
  await untilAgent(stand, 'Running')
  let isHealthy = true
  const origin = createServer((request, response) => {
    const isSick = request.url === '/health' && !isHealthy
    response.writeHead(isSick ? 503 : 200, { 'x-marker': 'origin' }).end()
  })
  await once(origin.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    origin.closeAllConnections()
    origin.close()
  })
  const site = await makeSite(stand, 'site')
  await api.editFile(
    site.file,
    `vcl 4.1;
backend probed {
  .host = "127.0.0.1";
  .port = "${(origin.address() as AddressInfo).port}";
  .probe = { .url = "/health"; .interval = 100ms; .window = 2; .threshold = 1; .initial = 0; }
}
sub vcl_recv { return (pass); }
`,
  )
  await deploySite(stand, site)
  await editSite(stand, site, 'plain')
  await deploySite(stand, site)
  // An idle worker thread holds on to the VCL that it served last until there is more to do.
  const traffic = startTraffic(t, cache)
  await eventually('the previous VCL is cold', async () =>
    /auto\s+cold\s+\d+\s+cf-\d/.test(await cache.adm('vcl.list')),
  )
  await traffic.stop()

  isHealthy = false
  port.forget()
  const rolling = rollBack(stand, site)
  await eventually('its probes are waited for', () => {
    return port.commands.filter((line) => line.startsWith('backend.list')).length > 4
  })
  t.equal((await fetchMark(cache)).mark, 'plain')
  isHealthy = true
  expectDone(await rolling)
  t.same(await fetchMark(cache), { status: 200, mark: 'origin' }, 'the first request is answered')
  t.notOk(
    port.changes().some((line) => line.startsWith('vcl.inline')),
    'nothing was compiled',
  )
  t.match(await cache.adm('vcl.list'), /^active\s+auto\s+warm/m, 'and it may cool down again')
})

void t.test('one cache of three refuses', lane(), async (t) => {
  const stand = await startStand(t, { tags: ['trio'] })
  const { api, cache } = stand
  await untilAgent(stand, 'Running')
  const second = await addCache(t, stand, 'second')
  const third = await addCache(t, stand, 'third')
  const site = await makeSite(stand, 'site', { tag: 'trio', min: 2, max: 3 })
  await deploySite(stand, site)
  expectDone(await api.act(site.id, 'validate', '?agents=all'))

  const working = await breakCompiler(third)
  await editSite(stand, site, 'two-of-three')
  expectDone(await api.act(site.id, 'validate'))
  t.match(readRefusal(await api.act(site.id, 'validate', '?agents=all'), 422), 'third')
  readRefusal(await api.act(site.id, 'validate', '?agents=some'), 400)

  await t.test('it drops what it served when that is wanted', async (t) => {
    expectDone(await api.call('PUT', `/vclgroups/${site.id}`, { keepOnFailure: false }))
    await deploySite(stand, site)
    t.equal((await fetchMark(cache)).mark, 'two-of-three')
    t.equal((await fetchMark(second)).mark, 'two-of-three')
    await eventually('the third serves nobody', async () => (await fetchMark(third)).status === 503)
    t.same(await listVcls(third), ['cf-idle'])
    const failed = (await api.readGroup(site.id)).agentStates.filter(isFailed)
    t.match(failed, [{ agent: { name: 'third' }, revision: null }])
  })

  await t.test('a reload tries it again', async (t) => {
    await third.adm('param.set', 'cc_command', working)
    expectDone(await api.act(site.id, 'reload'))
    t.equal((await fetchMark(third)).mark, 'two-of-three')
    t.equal((await api.readGroup(site.id)).agentStates.filter(isFailed).length, 0)
  })

  await t.test('max shrinks: who was placed last leaves', async (t) => {
    const names = async () => (await api.readGroup(site.id)).agentStates.map(nameOf)
    const order = await names()
    const { id } = (
      JSON.parse((await api.call('GET', '/deployments?name=site')).text) as {
        id: number
      }[]
    )[0] ?? { id: 0 } // a list of deployments
    expectDone(await api.call('PUT', `/deployments/${id}`, { max: 2 }))
    await eventually('two are left', async () => (await names()).length === 2)
    t.same(await names(), order.slice(0, 2))
    readRefusal(await api.call('PUT', `/deployments/${id}`, { min: 4, max: 4 }), 409)
    expectDone(await api.call('PUT', `/deployments/${id}`, { max: 3 }))
    await eventually('three again', async () => {
      const { agentStates } = await api.readGroup(site.id)
      return agentStates.filter(({ state }) => state === 'applied').length === 3
    })
  })

  await t.test('it keeps what it serves until its cache restarts', async (t) => {
    expectDone(await api.call('PUT', `/vclgroups/${site.id}`, { keepOnFailure: true }))
    await breakCompiler(third)
    await editSite(stand, site, 'not-for-all')
    await deploySite(stand, site)
    t.equal((await fetchMark(third)).mark, 'two-of-three')
    const { revision, agentStates } = await api.readGroup(site.id)
    t.match(agentStates.filter(isFailed), [{ agent: { name: 'third' } }])
    await third.restart() // with a compiler that works
    await untilServing(third, 'not-for-all')
    await eventually('all have applied', async () => {
      const places = (await api.readGroup(site.id)).agentStates
      return places.every((one) => one.state === 'applied' && one.revision === revision)
    })
  })

  await t.test(
    'another fills its place up to max, until it loads what it failed to load',
    async (t) => {
      const { text } = await api.call('GET', '/deployments?name=site')
      const [{ id = 0 } = {}] = JSON.parse(text) as { id?: number }[] // a list of deployments
      expectDone(await api.call('PUT', `/deployments/${id}`, { min: 1, max: 2 }))
      const appliedOnes = async () => {
        const { revision, agentStates } = await api.readGroup(site.id)
        return agentStates.filter((one) => one.state === 'applied' && one.revision === revision)
      }
      await eventually(
        'one left',
        async () => (await api.readGroup(site.id)).agentStates.length === 2,
      )
      const caches = new Map([
        ['edge', cache],
        ['second', second],
        ['third', third],
      ])
      const [kept = '', broken = ''] = (await appliedOnes()).map(nameOf)
      const brokenCache = caches.get(broken) ?? third
      await breakCompiler(brokenCache)
      await editSite(stand, site, 'filled')
      await deploySite(stand, site)
      await eventually('two serve it', async () => (await appliedOnes()).length === 2)
      t.notOk((await appliedOnes()).map(nameOf).includes(broken))
      t.ok((await appliedOnes()).map(nameOf).includes(kept))
      t.equal((await fetchMark(brokenCache)).mark, 'not-for-all', 'it serves on what it served')
      t.match((await api.readGroup(site.id)).agentStates.filter(isFailed), [
        { agent: { name: broken } },
      ])

      await brokenCache.restart() // with a compiler that works
      await untilServing(brokenCache, 'filled')
      await eventually('who filled its place leaves', async () => {
        const names = (await api.readGroup(site.id)).agentStates.map(nameOf)
        return names.toSorted().join() === [kept, broken].toSorted().join()
      })
      await eventually('both serve it', async () => (await appliedOnes()).length === 2)
    },
  )
})

const isFailed = ({ state }: GroupView['agentStates'][number]): boolean => state === 'failed'
const nameOf = ({ agent }: GroupView['agentStates'][number]): string => agent.name

/** Answers what puts it right again. */
async function breakCompiler(cache: Varnishd): Promise<string> {
  const shown = JSON.parse(await cache.adm('param.show', '-j', 'cc_command')) as unknown[] // the envelope of -j
  const param = shown.find((part) => typeof part === 'object' && part && 'value' in part)
  await cache.adm('param.set', 'cc_command', '"exec false"')
  return JSON.stringify((param as { value: string }).value) // as just found
}

async function addCache(t: Test, stand: Stand, name: string): Promise<Varnishd> {
  const cache = await startVarnishd(t)
  startAgent(t, cache, {
    ...{ coordinatorUrl: stand.link.url, name, stateDir: await makeStateDir(t), tags: ['trio'] },
    joinToken: await stand.api.makeJoinToken(),
  })
  await untilAgent(stand, 'Running', name)
  return cache
}

void t.test('a child that panics', lane(), async (t) => {
  const stand = await startStand(t)
  const { api, cache } = stand
  const { id } = await untilAgent(stand, 'Running')
  const readPanic = async (): Promise<string> => {
    const { text } = await api.call('GET', `/agents/${id}/panic`)
    return (JSON.parse(text) as { panic: string | null }).panic ?? '' // of this call
  }
  t.equal(await readPanic(), '')
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)

  await cache.adm('debug.panic.worker').catch(() => '') // the child does not answer it
  const isCleared = async () => {
    return (await cache.adm('panic.show').catch((error: unknown) => String(error))).includes(
      'Child has not panicked',
    )
  }
  await eventually('the cache was asked, and told to forget', isCleared)
  const first = await readPanic()
  t.match(first, /^Panic at: .*\n.*Assert error|panic/is)
  await untilServing(cache, 'site-first')
  t.equal((await readdir(join(stand.agentStateDir, 'panics'))).length, 1)

  await cache.adm('debug.panic.worker').catch(() => '')
  await eventually('the next one is kept', async () => (await readPanic()) !== first)
  await eventually('and cleared', isCleared)
  await stand.agent.stop()
  stand.startAgent()
  await eventually('it is told after a restart of the agent, too', async () =>
    (await readPanic()).startsWith('Panic at: '),
  )
})

void t.test('alone on the host', lane(), async (t) => {
  const stand = await startStand(t, { heartbeatSeconds: 1 })
  const { api, cache, coordinator, agentStateDir } = stand
  await untilAgent(stand, 'Running')
  const rollback = (...words: readonly string[]) =>
    runDaemon(['rollback', ...words, '--state-dir', agentStateDir])
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  await editSite(stand, site, 'bad')
  await deploySite(stand, site)
  t.equal(await coordinator.daemon.stop(), 0)

  await t.test('the cache goes back to a good state without a coordinator', async (t) => {
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

  await t.test('and stays there, whatever restarts', async () => {
    await cache.restart()
    await untilServing(cache, 'site-first')
    await stand.agent.kill()
    await cache.restart()
    stand.startAgent()
    await untilServing(cache, 'site-first')
  })

  await t.test('until an administrator unlocks it', async (t) => {
    await coordinator.start()
    const agent = await untilAgent(stand, 'Locked')
    t.equal((await fetchMark(cache)).mark, 'site-first')
    readRefusal(await api.act(site.id, 'deploy'), 503)
    expectDone(await api.call('PUT', `/agents/${agent.id}/unlock`))
    await untilServing(cache, 'bad')
    await untilAgent(stand, 'Running')
    await eventually('all agree', () => readAgreement(stand, site), 30_000)
  })
})
