/**
 * A cache that changes from one group to another always answers from one of the two, whatever causes the change: a deploy that replaces,
 * changed tags, an unlock with a pending deploy. Real caches under continuous requests.
 */
import t, { type Test } from 'tap'
import { answering, fetchMark, listVcls } from '../support/observe-cache.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type AgentSetup,
  type CoordinatorProcess,
  type Daemon,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { parallel } from '../support/parallel.js'
import {
  agentName,
  deploySite,
  expectDone,
  makeSite,
  readRefusal,
  startHarness,
  startTraffic,
  untilAgent,
  untilServing,
  ways,
  type Site,
  type Harness,
  type Traffic,
} from './harness.js'

t.jobs = 3
for (const [way, coordinators] of ways)
  void t.test(`a change of groups, ${way}`, parallel(), (t) => checkChanges(t, coordinators))
for (const takeover of ['registration', 'first-deploy'])
  void t.test(`an unlock for which a group waits, --takeover ${takeover}`, parallel(), (t) =>
    checkUnlock(t, takeover),
  )

interface HistoryRow {
  readonly action: string
  readonly replaced: readonly { readonly name: string }[]
  readonly replacedBy: { readonly name: string } | null
}

const readJson = async <Answer>({ api }: Pick<Harness, 'api'>, path: string): Promise<Answer> =>
  JSON.parse((await api.call('GET', path)).text) as Answer // the caller names the type

async function checkChanges(t: Test, coordinators: 1 | 2): Promise<void> {
  const harness = await startHarness(t, { coordinators })
  await untilAgent(harness, 'Running')
  const one = await makeSite(harness, 'one')
  const two = await makeSite(harness, 'two')
  await deploySite(harness, one)

  await t.test('a deploy that replaces takes the place of a root group', async (t) => {
    const refused = readRefusal(await harness.api.act(two.id, 'deploy'), 409)
    t.match(refused, 'group "one" holds agent "edge"')
    readRefusal(await harness.api.act(two.id, 'deploy', '?force=true'), 400)
    const [row] = await readJson<{ chosen: boolean; reason: string }[]>(
      harness,
      `/vclgroups/${two.id}/placement?replace=true`,
    )
    t.match(row, { chosen: true, reason: 'it replaces group "one" there' })
    await underTraffic(t, harness, ['one-first', 'two-first'], async () => {
      expectDone(await harness.api.act(two.id, 'deploy', '?replace=true'))
    })
    t.match(await harness.api.readGroup(one.id), { deployed: false, stateName: 'Inactive' })
    t.match(await readHistory(harness, two), [{ action: 'deploy', replaced: [{ name: 'one' }] }])
    const [ended] = await readHistory(harness, one)
    t.match(ended, { action: 'undeploy', replacedBy: { name: 'two' } })
  })

  await t.test('a deploy that does not compile leaves the old group in place', async (t) => {
    const broken = await makeSite(harness, 'broken')
    await harness.api.editFile(broken.file, `${answering('broken')} sub vcl_recv { nonsense; }`)
    await underTraffic(t, harness, ['two-first'], async () => {
      readRefusal(await harness.api.act(broken.id, 'deploy', '?replace=true'), 422)
    })
    t.match(await harness.api.readGroup(two.id), { stateName: 'Active' })
  })

  await t.test('root groups and groups with domains replace each other', (t) =>
    checkDomains(t, harness, two),
  )
  await t.test('changed tags move an agent between groups, regardless of their order', (t) =>
    checkTags(t, harness, [two, one]),
  )
}

const readHistory = (harness: Harness, { id }: Site) =>
  readJson<HistoryRow[]>(harness, `/vclgroups/${id}/history`)

async function checkDomains(t: Test, harness: Harness, root: Site): Promise<void> {
  const { api } = harness
  const shop = await makeSite(harness, 'shop')
  const domain = await api.make('/domains', { fqdn: 'shop.example' })
  expectDone(await api.call('PUT', `/vclgroups/${shop.id}`, { domains: [{ id: domain }] }))
  const host = 'shop.example'
  const marks = ['two-first', 'shop-first']
  await underTraffic(t, { ...harness, host }, marks, () => replace(harness, shop))
  t.match(await listVcls(harness.cache), [/^cf-\d+-/, /^cf-idle|^cf-l-/])
  await underTraffic(t, { ...harness, host }, marks.toReversed(), () => replace(harness, root))
  t.notOk((await listVcls(harness.cache)).some((name) => name.startsWith('cf-r-')))
}

async function replace({ api }: Harness, { id }: Site): Promise<void> {
  expectDone(await api.act(id, 'deploy', '?replace=true'))
}

/** In both directions; then to a group with a pending deploy. */
async function checkTags(t: Test, harness: Harness, [now, other]: [Site, Site]): Promise<void> {
  const { api } = harness
  const [red, blue] = [await api.makeTag('red'), await api.makeTag('blue')]
  const { id: agentId } = await untilAgent(harness, 'Running')
  const bear = async (tag: number) => {
    expectDone(await api.call('PUT', `/agents/${agentId}?force=true`, { tags: [{ id: tag }] }))
  }
  const retag = async (site: Site, tag: number) => {
    const [deployment] = (
      await readJson<{ deployments: [{ id: number }] }>(harness, `/vclgroups/${site.id}`)
    ).deployments
    const path = `/deployments/${deployment.id}?force=true`
    expectDone(await api.call('PUT', path, { tags: [{ id: tag }] }))
  }
  await bear(red)
  await retag(now, red)
  await retag(other, blue)
  readRefusal(await api.act(other.id, 'deploy', '?wait=0'), 503)
  await underTraffic(t, harness, ['two-first', 'one-first'], async () => {
    await bear(blue)
    await untilServing(harness.cache, 'one-first')
  })
  for (const [tag, marks] of [
    [red, ['one-first', 'two-first']],
    [blue, ['two-first', 'one-first']],
  ] as const)
    await underTraffic(t, harness, marks, async () => {
      await bear(tag)
      await untilServing(harness.cache, marks[1])
    })
  t.match(await api.readGroup(now.id), { deployed: true, stateName: 'Orphan' })
}

/** The first mark is replaced by the last one, and no other was ever served. */
async function underTraffic(
  t: Test,
  { cache, host }: Pick<Harness, 'cache'> & { readonly host?: string },
  marks: readonly string[],
  act: () => Promise<void>,
): Promise<void> {
  t.equal((await fetchMark(cache, host)).mark, marks[0])
  const traffic = startTraffic(t, cache, host)
  await act()
  await settle(traffic, marks)
  await traffic.stop()
  t.same([...traffic.failures], [], 'no request fails')
  t.same([...traffic.marks], marks, 'one after the other')
}

/** Waits for some more answers, so that those after the switch are included. */
async function settle(traffic: Traffic, marks: readonly string[]): Promise<void> {
  await eventually('the last one serves', () => traffic.marks.has(marks.at(-1) ?? ''))
  const until = traffic.count() + 30
  await eventually('requests continue', () => traffic.count() >= until)
}

async function checkUnlock(t: Test, takeover: string): Promise<void> {
  const words = ['--no-agent', '--heartbeat', '3']
  const [cache, before, after, stateDir] = await Promise.all([
    startVarnishd(t, { vcl: answering('foreign') }),
    startCoordinator(t, { words }),
    startCoordinator(t, { words }),
    makeStateDir(t),
  ])
  const setup = { name: agentName, stateDir, tags: ['web'], words: ['--takeover', takeover] }
  const earlier = await enrolForWaiting(t, before, { ...setup, cache })
  await earlier.stop()
  startAgent(t, cache, {
    ...setup,
    coordinatorUrl: `ws://127.0.0.1:${after.port}`,
    joinToken: await after.api.makeJoinToken(),
  })
  const { id } = await untilAgent(after, 'Locked')
  const site = await makeSite(after, 'site')
  const refused = readRefusal(await after.api.act(site.id, 'deploy', '?wait=0'), 503)
  t.match(refused, '1 has its tags, 1 is Locked')
  await underTraffic(t, { cache }, ['earlier-first', 'site-first'], async () => {
    expectDone(await after.api.call('PUT', `/agents/${id}/unlock`))
    await untilServing(cache, 'site-first')
  })
  await eventually('the old VCL is discarded', async () =>
    (await listVcls(cache)).every(
      (name) => name.startsWith(`cf-${site.id}-`) || name === 'cf-idle',
    ),
  )
}

/** A new agent, too, first receives the configuration of its group. */
async function enrolForWaiting(
  t: Test,
  coordinator: CoordinatorProcess,
  { cache, ...setup }: Omit<AgentSetup, 'coordinatorUrl'> & { readonly cache: Varnishd },
): Promise<Daemon> {
  const { api, port } = coordinator
  await api.makeTag('web')
  const site = await makeSite(coordinator, 'earlier')
  t.match(readRefusal(await api.act(site.id, 'deploy', '?wait=0'), 503), 'no agent has them')
  const joinToken = await api.makeJoinToken()
  const start = () =>
    startAgent(t, cache, { ...setup, coordinatorUrl: `ws://127.0.0.1:${port}`, joinToken })
  const agents: Daemon[] = []
  await underTraffic(t, { cache }, ['foreign', 'earlier-first'], async () => {
    agents.push(start())
    await untilServing(cache, 'earlier-first')
  })
  return agents[0] ?? start()
}
