/** Stages on real caches: beside the group under names of their own, on other agents, promoted under load, dropped without a trace. */
import t, { type Test } from 'tap'
import { answering, fetchMark, listVcls } from '../agent/cache-sight.js'
import { makeStateDir, startAgent } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { ask, startOrigin, type Origin } from './origin.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readRefusal,
  startStand,
  startTraffic,
  untilAgent,
  type Site,
  type Stand,
} from './stand.js'

/** A new object each time: tap keeps what it is given, and writes into it. */
const lane = () => ({ buffered: true, timeout: 220_000 })
t.jobs = 2

const secondName = 'second'

interface Pair extends Stand {
  /** Behind an agent of its own, with the tags `canary` and `late`. */
  readonly second: Varnishd
}

async function startPair(t: Test, coordinators: 1 | 2 = 1): Promise<Pair> {
  const stand = await startStand(t, { coordinators })
  const second = await startVarnishd(t, { vcl: answering('foreign') })
  startAgent(t, second, {
    coordinatorUrl: `ws://127.0.0.1:${stand.coordinator.port}`,
    name: secondName,
    stateDir: await makeStateDir(t),
    tags: ['canary'],
    joinToken: await stand.api.makeJoinToken(),
  })
  await untilAgent(stand, 'Running')
  await untilAgent(stand, 'Running', secondName)
  return { ...stand, second }
}

interface Staged {
  readonly tags: readonly { readonly name: string }[]
  readonly domains: readonly { readonly fqdn: string }[]
  readonly mainVCL: { readonly id: number; readonly name: string; readonly version: number }
  readonly includes: readonly unknown[]
}

async function readGroup({ api }: Stand, id: number) {
  const { text } = await api.call('GET', `/vclgroups/${id}`)
  // As its schema says.
  return JSON.parse(text) as {
    readonly staged: Staged | null
    readonly stateName: string
    readonly revision: number
    readonly mainVCL: { readonly id: number }
  }
}

async function make(api: Stand['api'], path: string, body: unknown): Promise<number> {
  const answer = await api.call('POST', path, body)
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  return (JSON.parse(answer.text) as { id: number }).id // all that is made has an id
}

function stage({ api }: Stand, groupId: number, body: unknown) {
  return api.call('PUT', `/vclgroups/${groupId}/stage`, body)
}

/** The newest first, as action and result. */
async function readActions({ api }: Stand, groupId: number): Promise<string[]> {
  return (await api.readHistory(groupId)).map(({ action, result, revision }) =>
    [action, result.split(' ')[0], revision].join(' '),
  )
}

/** What is loaded of a group, and its labels. */
async function listOf(cache: Varnishd, groupId: number): Promise<string[]> {
  const names = await listVcls(cache)
  return names.filter((name) => new RegExp(`^cf-(?:[ls]-)?${groupId}(?:-|$)`).test(name))
}

/** All have one object in common, as far as the author can tell. */
const caching = ({ port }: Origin, mark: string): string => `vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_hash { hash_data("same"); return (lookup); }
sub vcl_backend_response { set beresp.ttl = 1h; return (deliver); }
sub vcl_deliver { set resp.http.X-Marker = "${mark}"; set resp.http.X-Hits = obj.hits; }
`

interface Shop {
  readonly id: number
  readonly file: number
  readonly next: number
  readonly origin: Origin
  readonly nextDomain: number
  readonly web: number
  readonly canary: number
}

async function makeShop(t: Test, { api }: Stand): Promise<Shop> {
  const origin = await startOrigin(t, 'shop')
  const file = await api.makeFile('shop.vcl', caching(origin, 'first'))
  const next = await api.makeFile('next.vcl', caching(origin, 'next'))
  const [web, canary] = await Promise.all([api.findTag('web'), api.findTag('canary')])
  const domain = await make(api, '/domains', { fqdn: 'shop.example' })
  const nextDomain = await make(api, '/domains', { fqdn: 'next.shop.example' })
  const deployment = await api.makeDeployment('shop', web)
  const id = await make(api, '/vclgroups', {
    name: 'shop',
    mainVCL: { id: file },
    domains: [{ id: domain }],
    deployments: [{ id: deployment }],
  })
  return { id, file, next, origin, nextDomain, web, canary }
}

void t.test('a group with domains', lane(), async (t) => {
  const stand = await startPair(t)
  const shop = await makeShop(t, stand)
  expectDone(await stand.api.act(shop.id, 'deploy'))
  await t.test('is staged under other names beside itself', (t) => checkBeside(t, stand, shop))
  await t.test('without other names only where it is not', (t) => checkApart(t, stand, shop))
  await t.test('is deployed again while it is staged', (t) => checkDeployed(t, stand, shop))
  await t.test('its stage is there again after restarts', (t) => checkRestarts(t, stand, shop))
  await t.test('is staged anew, or stays as it was', (t) => checkAnew(t, stand, shop))
  await t.test('is promoted under load', (t) => checkPromote(t, stand, shop))
  await t.test('its stage is dropped', (t) => checkDelstage(t, stand, shop))
  await t.test('takes the place of its stage under load', (t) => checkSameNames(t, stand, shop))
})

async function checkBeside(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { api, cache } = stand
  await ask(cache, 'shop.example')
  const answer = await stage(stand, shop.id, {
    tags: [{ id: shop.web }],
    domains: [{ id: shop.nextDomain }],
    MainVcl: { id: shop.next },
  })
  expectDone(answer)
  const { hits, mark } = await ask(cache, 'next.shop.example')
  t.equal(mark, 'next')
  t.match(hits, /^[1-9]/, 'what the group has stored is the stage’s too')
  t.equal((await ask(cache, 'shop.example')).mark, 'first')
  t.match(await listOf(cache, shop.id), [/^cf-\d/, /^cf-\d/, `cf-l-${shop.id}`, `cf-s-${shop.id}`])

  const group = await readGroup(stand, shop.id)
  t.match(group, { stateName: 'Active', revision: 1, mainVCL: { id: shop.file } })
  t.match(group.staged, {
    tags: [{ id: shop.web, name: 'web' }],
    domains: [{ id: shop.nextDomain, fqdn: 'next.shop.example' }],
    mainVCL: { id: shop.next, name: 'next.vcl', version: 1 },
    includes: [],
  })
  t.same(Object.keys(group.staged ?? {}).toSorted(), ['domains', 'includes', 'mainVCL', 'tags'])
  t.same(await readActions(stand, shop.id), ['stage ok 1', 'deploy ok 1'])
  const { text } = await api.call('GET', `/vclgroups/${shop.id}/routing`)
  t.match(text, `cf-s-${shop.id}`)

  stand.port.forget()
  const again = { tags: [{ id: shop.web }], domains: [{ id: shop.nextDomain }] }
  expectDone(await stage(stand, shop.id, { ...again, mainVCL: { id: shop.next } }))
  t.same(stand.port.changes(), [], 'the same again changes nothing')
  t.equal((await readActions(stand, shop.id)).length, 2)
  for (const path of [`/files/${shop.next}`, `/domains/${shop.nextDomain}`])
    t.match(readRefusal(await api.call('DELETE', path), 409), /"shop"/)
  readRefusal(await api.call('PUT', `/domains/${shop.nextDomain}`, { fqdn: 'x.example' }), 409)
}

async function checkApart(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { cache, second } = stand
  const refusal = readRefusal(await stage(stand, shop.id, { tags: [{ id: shop.web }] }), 409)
  t.match(refusal, /edge: the group itself is placed there/)
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next', 'the stage before it stays')

  expectDone(
    await stage(stand, shop.id, { tags: [{ id: shop.canary }], mainVCL: { id: shop.next } }),
  )
  t.equal((await ask(second, 'shop.example')).mark, 'next')
  t.equal((await ask(cache, 'next.shop.example')).status, 404, 'it moved')
  t.equal((await ask(cache, 'shop.example')).mark, 'first')
  t.notOk((await listOf(cache, shop.id)).includes(`cf-s-${shop.id}`))
  t.match(readRefusal(await stage(stand, shop.id, { tags: [] }), 400), /tags/)
  t.match(readRefusal(await stage(stand, shop.id, { tags: [{ id: 999 }] }), 400), /tags: 999/)
  const nobody = await stand.api.makeTag('nobody')
  readRefusal(await stage(stand, shop.id, { tags: [{ id: nobody }] }), 503)
  t.equal((await ask(second, 'shop.example')).mark, 'next')

  const canaries = { id: shop.canary }
  expectDone(
    await stage(stand, shop.id, {
      tags: [canaries],
      domains: [{ id: shop.nextDomain }],
      mainVCL: { id: shop.next },
    }),
  )
  t.equal((await ask(second, 'next.shop.example')).mark, 'next')
  t.equal((await ask(second, 'shop.example')).status, 404, 'other names in place of these')
}

async function checkDeployed(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { api, cache } = stand
  const body = { tags: [{ id: shop.web }], domains: [{ id: shop.nextDomain }] }
  expectDone(await stage(stand, shop.id, { ...body, mainVCL: { id: shop.next } }))
  await api.editFile(shop.file, caching(shop.origin, 'second'))
  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next')
  expectDone(await api.act(shop.id, 'rollback'))
  t.equal((await ask(cache, 'shop.example')).mark, 'first')
  expectDone(await api.act(shop.id, 'undeploy'))
  t.equal((await ask(cache, 'shop.example')).status, 404)
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next', 'the stage is not deployed')
  t.match(readRefusal(await api.call('DELETE', `/vclgroups/${shop.id}`), 409), /staged/)
  t.match(readRefusal(await api.call('DELETE', `/tags/${shop.web}`), 409), /static/)
  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
}

async function checkRestarts(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { cache, coordinator } = stand
  await cache.restart()
  const isThere = async (): Promise<boolean> =>
    (await ask(cache, 'next.shop.example')).mark === 'next' &&
    (await ask(cache, 'shop.example')).mark === 'second'
  await eventually('group and stage serve again', isThere)
  await untilAgent(stand, 'Running')

  await stand.agent.kill()
  stand.startAgent()
  await untilAgent(stand, 'Running')
  await coordinator.daemon.kill()
  await coordinator.start()
  await untilAgent(stand, 'Running')
  t.ok(await isThere())
  t.match((await readGroup(stand, shop.id)).staged, { domains: [{ fqdn: 'next.shop.example' }] })
  t.ok((await listOf(cache, shop.id)).includes(`cf-s-${shop.id}`))
}

async function checkAnew(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { api, cache } = stand
  const body = {
    tags: [{ id: shop.web }],
    domains: [{ id: shop.nextDomain }],
    mainVCL: { id: shop.next },
  }
  await api.editFile(shop.next, 'vcl 4.1;\nbackend default none;\nnonsense;\n')
  const refusal = readRefusal(await stage(stand, shop.id, body), 422)
  t.match(refusal, /^next\.vcl line \d+ pos \d+: /m)
  t.match(refusal, /edge/)
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next')
  t.match((await readGroup(stand, shop.id)).staged, { mainVCL: { version: 1 } })
  t.equal((await readActions(stand, shop.id))[0], `stage next.vcl `)
  await api.editFile(shop.next, 'vcl 4.1;\ninclude "gone.vcl";\n')
  t.match(readRefusal(await stage(stand, shop.id, body), 422), /gone\.vcl/)

  await api.editFile(shop.next, caching(shop.origin, 'better'))
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next', 'staged sources are pinned')
  expectDone(await stage(stand, shop.id, body))
  t.equal((await ask(cache, 'next.shop.example')).mark, 'better')
  t.match((await readGroup(stand, shop.id)).staged, { mainVCL: { version: 4 } })
}

async function checkPromote(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { api, cache } = stand
  const { revision } = await readGroup(stand, shop.id)
  await api.editFile(shop.next, caching(shop.origin, 'unstaged'))
  const load = startLoad(cache)
  readRefusal(await api.act(shop.id, 'promote', '?wait=601'), 400)
  expectDone(await api.act(shop.id, 'promote'))
  await eventually('the promoted VCL serves', () => load.marks.has('better'))
  t.same(await load.stop(), { failures: [], marks: ['better', 'second'] })
  t.equal((await ask(cache, 'next.shop.example')).status, 404, 'the stage’s names are not promoted')
  const group = await readGroup(stand, shop.id)
  t.match(group, { staged: null, stateName: 'Active', revision: revision + 1 })
  t.equal(group.mainVCL.id, shop.next)
  t.equal((await readActions(stand, shop.id))[0], `promote ok ${revision + 1}`)
  t.notOk((await listOf(cache, shop.id)).includes(`cf-s-${shop.id}`))
  t.match(readRefusal(await api.act(shop.id, 'promote'), 409), /not staged/)
  expectDone(await api.act(shop.id, 'rollback'))
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
}

async function checkDelstage(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { api, cache } = stand
  const before = await listVcls(cache)
  const body = { tags: [{ id: shop.web }], domains: [{ id: shop.nextDomain }] }
  expectDone(await stage(stand, shop.id, body))
  t.equal((await ask(cache, 'next.shop.example')).mark, 'unstaged', 'the newest of its own file')
  expectDone(await api.act(shop.id, 'delstage'))
  t.same(await listVcls(cache), before, 'nothing is left of it')
  t.equal((await ask(cache, 'next.shop.example')).status, 404)
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
  t.match((await readActions(stand, shop.id)).slice(0, 2), [/^delstage ok/, /^stage ok/])
  t.match(readRefusal(await api.act(shop.id, 'delstage'), 409), /not staged/)
  t.equal((await api.call('DELETE', `/domains/${shop.nextDomain}`)).status, 204)
}

/** Staged where it is to go, with its own names: the routing moves from one label to the other. */
async function checkSameNames(t: Test, stand: Pair, shop: Shop): Promise<void> {
  const { api, cache } = stand
  expectDone(await api.act(shop.id, 'undeploy'))
  t.same(await listVcls(cache), ['cf-idle'])
  expectDone(await stage(stand, shop.id, { tags: [{ id: shop.web }] }))
  t.equal((await ask(cache, 'shop.example')).mark, 'unstaged')
  t.match(readRefusal(await api.act(shop.id, 'deploy'), 409), /other groups hold/)
  const load = startLoad(cache)
  stand.port.forget()
  expectDone(await api.act(shop.id, 'promote'))
  t.same(await load.stop(), { failures: [], marks: ['unstaged'] })
  t.match(
    stand.port.changes().map((line) => line.split(' ')[0]),
    [...['vcl.inline', 'vcl.label', 'vcl.inline', 'vcl.use'], 'vcl.discard'],
  )
  t.match(await listOf(cache, shop.id), [/^cf-\d/, `cf-l-${shop.id}`])
  expectDone(await api.act(shop.id, 'undeploy'))
  t.same(await listVcls(cache), ['cf-idle'])
  t.equal((await api.call('DELETE', `/vclgroups/${shop.id}`)).status, 204)
}

/** One request after the other for the group's name. */
function startLoad(cache: Varnishd) {
  const failures = new Set<number>()
  const marks = new Set<string>()
  let isOn = true
  const run = async (): Promise<void> => {
    while (isOn) {
      const { status, mark } = await ask(cache, 'shop.example')
      if (status === 200) marks.add(mark ?? '')
      else failures.add(status)
    }
  }
  const running = run()
  return {
    marks,
    stop: async () => {
      isOn = false
      await running
      return { failures: [...failures], marks: [...marks].toSorted() }
    },
  }
}

void t.test('a root group, with two coordinators', lane(), async (t) => {
  const stand = await startPair(t, 2)
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  await t.test('is staged where nothing else is', (t) => checkRoot(t, stand, site))
  await t.test('its stage follows the tags', (t) => checkFollowing(t, stand, site))
  await t.test('a promote that fails changes nothing', (t) => checkShortage(t, stand, site))
  await t.test('it takes the place of its stage under load', (t) => checkInPlace(t, stand, site))
  await t.test('what a coordinator left in the first phase is discarded', (t) =>
    checkKilled(t, stand, site),
  )
})

async function checkRoot(t: Test, stand: Pair, site: Site): Promise<void> {
  const { api, cache, second } = stand
  await editSite(stand, site, 'canary')
  const web = { id: await api.findTag('web') }
  const canary = { id: await api.findTag('canary') }
  t.match(readRefusal(await stage(stand, site.id, { tags: [web] }), 409), /edge: the group itself/)
  const domain = await make(api, '/domains', { fqdn: 'site.example' })
  const named = { tags: [canary], domains: [{ id: domain }] }
  t.match(readRefusal(await stage(stand, site.id, named), 400), /domains/)
  const other = await makeSite(stand, 'other', { tag: 'canary' })
  await deploySite(stand, other)
  t.match(readRefusal(await stage(stand, site.id, { tags: [canary] }), 409), /second: a root group/)
  expectDone(await api.act(other.id, 'undeploy'))

  expectDone(await stage(stand, site.id, { tags: [canary], domains: [] }))
  t.equal((await fetchMark(second)).mark, 'canary')
  t.equal((await fetchMark(cache)).mark, 'site-first')
  t.match((await readGroup(stand, site.id)).staged, { domains: [], mainVCL: { version: 2 } })
  t.match(readRefusal(await api.act(other.id, 'deploy'), 409), /other groups hold/)
  t.equal((await api.readGroup(site.id)).agentStates.length, 1, 'a stage is no place of the group')
  readRefusal(
    await api.call('DELETE', `/agents/${(await untilAgent(stand, 'Running', secondName)).id}`),
    409,
  )
}

async function checkFollowing(t: Test, stand: Pair, site: Site): Promise<void> {
  const { api, cache, second } = stand
  const edge = await untilAgent(stand, 'Running')
  const late = { id: await api.makeTag('late') }
  const untilMark = (of: Varnishd, mark: string | undefined) =>
    eventually(`serves ${mark ?? 'nothing'}`, async () => (await fetchMark(of)).mark === mark)
  const agent = await untilAgent(stand, 'Running', secondName)
  const assign = (id: number, tags: readonly { id: number }[]) =>
    api.call('PUT', `/agents/${id}?force=true`, { tags })
  expectDone(await assign(agent.id, [late]))
  expectDone(await stage(stand, site.id, { tags: [late] }))
  t.match(
    readRefusal(await api.call('DELETE', `/tags/${late.id}`), 409),
    /stage of VCL group "site"/,
  )

  expectDone(await assign(edge.id, [late]))
  expectDone(await api.act(site.id, 'deploy'))
  t.equal((await fetchMark(cache)).mark, 'canary', 'the group is there: its stage passes over it')
  await editSite(stand, site, 'follower')
  expectDone(await assign(edge.id, []))
  expectDone(await stage(stand, site.id, { tags: [late] }))
  expectDone(await api.act(site.id, 'undeploy'))
  expectDone(await assign(edge.id, [late]))
  await untilMark(cache, 'follower')
  t.equal((await fetchMark(second)).mark, 'follower')
  expectDone(await assign(agent.id, []))
  await untilMark(second, undefined)
  t.equal((await fetchMark(second)).status, 503, 'without the tag it leaves')
}

async function checkShortage(t: Test, stand: Pair, site: Site): Promise<void> {
  const { api, cache } = stand
  const before = await readGroup(stand, site.id)
  const { text } = await api.call('GET', `/deployments?name=site`)
  const [deployment] = JSON.parse(text) as { id: number }[] // a list of deployments
  const at = `/deployments/${deployment?.id ?? 0}`
  expectDone(await api.call('PUT', at, { min: 2, max: 2 }))
  t.match(readRefusal(await api.act(site.id, 'promote'), 503), /needs 2/)
  t.match(await readGroup(stand, site.id), before)
  t.match((await readActions(stand, site.id))[0], /^promote deployment $/)
  t.equal((await fetchMark(cache)).mark, 'follower')
  expectDone(await api.call('PUT', at, { min: 1, max: 1 }))
}

async function checkInPlace(t: Test, stand: Pair, site: Site): Promise<void> {
  const { api, cache } = stand
  await api.editFile(site.file, 'vcl 4.1;\nnonsense;\n')
  const { revision } = await readGroup(stand, site.id)
  const traffic = startTraffic(t, cache)
  expectDone(await api.act(site.id, 'promote'))
  t.equal((await fetchMark(cache)).mark, 'follower', 'the staged version, not the newest')
  await traffic.stop()
  t.same([...traffic.failures], [])
  t.same([...traffic.marks], ['follower'])
  const group = await readGroup(stand, site.id)
  t.match(group, { staged: null, stateName: 'Active', revision: revision + 1 })
  t.equal((await listOf(cache, site.id)).length, 1, 'the stage’s VCL is gone')
}

async function checkKilled(t: Test, stand: Pair, site: Site): Promise<void> {
  const { api, cache } = stand
  const web = { id: await api.findTag('web') }
  expectDone(await api.act(site.id, 'undeploy'))
  await editSite(stand, site, 'never')
  await killWhileLoading(t, stand, () => stage(stand, site.id, { tags: [web] }))
  await eventually('it is discarded', async () => {
    const [newest] = await readActions(stand, site.id)
    return newest === 'stage the ' && (await listVcls(cache)).join() === 'cf-idle'
  })
  t.equal((await readGroup(stand, site.id)).staged, null)
  expectDone(await stage(stand, site.id, { tags: [web] }))
  t.equal((await fetchMark(cache)).mark, 'never')

  const before = await readGroup(stand, site.id)
  const [program] = await listOf(cache, site.id)
  await killWhileLoading(t, stand, () => api.act(site.id, 'promote'))
  await eventually('the promote is discarded', async () => {
    const [newest] = await readActions(stand, site.id)
    return newest === 'promote the ' && (await listOf(cache, site.id)).join() === program
  })
  t.match(await readGroup(stand, site.id), before, 'group and stage are as they were')
  t.equal((await fetchMark(cache)).mark, 'never')
  expectDone(await api.act(site.id, 'promote'))
  t.match(await readGroup(stand, site.id), { staged: null, stateName: 'Active' })
}

/** SIGKILL when the cache has loaded and the coordinator does not know it yet. */
async function killWhileLoading(t: Test, stand: Pair, act: () => Promise<unknown>): Promise<void> {
  const { coordinator, port } = stand
  const sprung = port.trap({
    name: 'vcl.inline',
    moment: 'after',
    fate: 'pass',
    act: async () => {
      await coordinator.daemon.kill()
    },
  })
  const asked = act().catch(() => undefined)
  await sprung
  t.equal(await asked, undefined, 'nobody answers')
  await coordinator.start()
  await untilAgent(stand, 'Running')
}
