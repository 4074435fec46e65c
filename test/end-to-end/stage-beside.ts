/** The stage of a group with domains: beside the group under other names, on other agents, promoted under load, discarded. */
import type { Test } from 'tap'
import { listVcls } from '../support/observe-cache.js'
import { eventually } from '../support/eventually.js'
import type { Varnishd } from '../support/varnishd.js'
import { ask, startOrigin, type Origin } from './origin.js'
import { listOf, readActions, readGroup, stage, type Pair } from './stage-pair.js'
import { expectDone, readRefusal, untilAgent, type Harness } from './harness.js'

/** As far as the author can tell, all requests share one object. */
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

export async function makeShop(t: Test, { api }: Harness): Promise<Shop> {
  const origin = await startOrigin(t, 'shop')
  const file = await api.makeFile('shop.vcl', caching(origin, 'first'))
  const next = await api.makeFile('next.vcl', caching(origin, 'next'))
  const [web, canary] = await Promise.all([api.findTag('web'), api.findTag('canary')])
  const domain = await api.make('/domains', { fqdn: 'shop.example' })
  const nextDomain = await api.make('/domains', { fqdn: 'next.shop.example' })
  const deployment = await api.makeDeployment('shop', web)
  const id = await api.make('/vclgroups', {
    name: 'shop',
    mainVCL: { id: file },
    domains: [{ id: domain }],
    deployments: [{ id: deployment }],
  })
  return { id, file, next, origin, nextDomain, web, canary }
}

export async function checkBeside(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { api, cache } = harness
  await ask(cache, 'shop.example')
  const answer = await stage(harness, shop.id, {
    tags: [{ id: shop.web }],
    domains: [{ id: shop.nextDomain }],
    MainVcl: { id: shop.next },
  })
  expectDone(answer)
  const { hits, mark } = await ask(cache, 'next.shop.example')
  t.equal(mark, 'next')
  t.match(hits, /^[1-9]/, 'the stage shares the cached objects of the group')
  t.equal((await ask(cache, 'shop.example')).mark, 'first')
  t.match(await listOf(cache, shop.id), [/^cf-\d/, /^cf-\d/, `cf-l-${shop.id}`, `cf-s-${shop.id}`])

  const group = await readGroup(harness, shop.id)
  t.match(group, { stateName: 'Active', revision: 1, mainVCL: { id: shop.file } })
  t.match(group.staged, {
    tags: [{ id: shop.web, name: 'web' }],
    domains: [{ id: shop.nextDomain, fqdn: 'next.shop.example' }],
    mainVCL: { id: shop.next, name: 'next.vcl', version: 1 },
    includes: [],
  })
  t.same(Object.keys(group.staged ?? {}).toSorted(), [
    ...['agentStates', 'domains', 'includes', 'mainVCL', 'problems', 'tags'],
  ])
  t.same(await readActions(harness, shop.id), ['stage ok 1', 'deploy ok 1'])
  const { text } = await api.call('GET', `/vclgroups/${shop.id}/routing`)
  t.match(text, `cf-s-${shop.id}`)

  harness.port.forget()
  const again = { tags: [{ id: shop.web }], domains: [{ id: shop.nextDomain }] }
  expectDone(await stage(harness, shop.id, { ...again, mainVCL: { id: shop.next } }))
  t.same(harness.port.changes(), [], 'an unchanged stage changes nothing')
  t.equal((await readActions(harness, shop.id)).length, 2)
  for (const path of [`/files/${shop.next}`, `/domains/${shop.nextDomain}`])
    t.match(readRefusal(await api.call('DELETE', path), 409), /"shop"/)
  readRefusal(await api.call('PUT', `/domains/${shop.nextDomain}`, { fqdn: 'x.example' }), 409)
}

export async function checkApart(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { cache, second } = harness
  const refusal = readRefusal(await stage(harness, shop.id, { tags: [{ id: shop.web }] }), 409)
  t.match(refusal, /edge: the group itself is placed there/)
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next', 'the previous stage remains')

  expectDone(
    await stage(harness, shop.id, { tags: [{ id: shop.canary }], mainVCL: { id: shop.next } }),
  )
  t.equal((await ask(second, 'shop.example')).mark, 'next')
  t.equal((await ask(cache, 'next.shop.example')).status, 404, 'the stage has moved')
  t.equal((await ask(cache, 'shop.example')).mark, 'first')
  t.notOk((await listOf(cache, shop.id)).includes(`cf-s-${shop.id}`))
  t.match(readRefusal(await stage(harness, shop.id, { tags: [] }), 400), /tags/)
  t.match(readRefusal(await stage(harness, shop.id, { tags: [{ id: 999 }] }), 400), /tags: 999/)
  const nobody = await harness.api.makeTag('nobody')
  readRefusal(await stage(harness, shop.id, { tags: [{ id: nobody }] }), 503)
  t.equal((await ask(second, 'shop.example')).mark, 'next')

  const canaries = { id: shop.canary }
  expectDone(
    await stage(harness, shop.id, {
      tags: [canaries],
      domains: [{ id: shop.nextDomain }],
      mainVCL: { id: shop.next },
    }),
  )
  t.equal((await ask(second, 'next.shop.example')).mark, 'next')
  t.equal((await ask(second, 'shop.example')).status, 404, 'other names in place of these')
}

export async function checkDeployed(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { api, cache } = harness
  const body = { tags: [{ id: shop.web }], domains: [{ id: shop.nextDomain }] }
  expectDone(await stage(harness, shop.id, { ...body, mainVCL: { id: shop.next } }))
  await api.editFile(shop.file, caching(shop.origin, 'second'))
  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next')
  expectDone(await api.act(shop.id, 'rollback'))
  t.equal((await ask(cache, 'shop.example')).mark, 'first')
  expectDone(await api.act(shop.id, 'undeploy'))
  t.equal((await ask(cache, 'shop.example')).status, 404)
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next', 'the stage remains')
  t.match(readRefusal(await api.call('DELETE', `/vclgroups/${shop.id}`), 409), /staged/)
  t.match(readRefusal(await api.call('DELETE', `/tags/${shop.web}`), 409), /in use by the stage/)
  expectDone(await api.act(shop.id, 'deploy'))
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
}

export async function checkRestarts(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { cache, coordinator } = harness
  await cache.restart()
  const isThere = async (): Promise<boolean> =>
    (await ask(cache, 'next.shop.example')).mark === 'next' &&
    (await ask(cache, 'shop.example')).mark === 'second'
  await eventually('group and stage serve again', isThere)
  await untilAgent(harness, 'Running')

  await harness.agent.kill()
  harness.startAgent()
  await untilAgent(harness, 'Running')
  await coordinator.daemon.kill()
  await coordinator.start()
  await untilAgent(harness, 'Running')
  t.ok(await isThere())
  t.match((await readGroup(harness, shop.id)).staged, { domains: [{ fqdn: 'next.shop.example' }] })
  t.ok((await listOf(cache, shop.id)).includes(`cf-s-${shop.id}`))
}

export async function checkAnew(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { api, cache } = harness
  const body = {
    tags: [{ id: shop.web }],
    domains: [{ id: shop.nextDomain }],
    mainVCL: { id: shop.next },
  }
  await api.editFile(shop.next, 'vcl 4.1;\nbackend default none;\nnonsense;\n')
  const refusal = readRefusal(await stage(harness, shop.id, body), 422)
  t.match(refusal, /^next\.vcl line \d+ pos \d+: /m)
  t.match(refusal, /edge/)
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next')
  t.match((await readGroup(harness, shop.id)).staged, { mainVCL: { version: 1 } })
  t.equal((await readActions(harness, shop.id))[0], `stage next.vcl `)
  await api.editFile(shop.next, 'vcl 4.1;\ninclude "gone.vcl";\n')
  t.match(readRefusal(await stage(harness, shop.id, body), 422), /gone\.vcl/)

  await api.editFile(shop.next, caching(shop.origin, 'better'))
  t.equal((await ask(cache, 'next.shop.example')).mark, 'next', 'staged sources are pinned')
  expectDone(await stage(harness, shop.id, body))
  t.equal((await ask(cache, 'next.shop.example')).mark, 'better')
  t.match((await readGroup(harness, shop.id)).staged, { mainVCL: { version: 4 } })
}

export async function checkPromote(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { api, cache } = harness
  const { revision } = await readGroup(harness, shop.id)
  await api.editFile(shop.next, caching(shop.origin, 'unstaged'))
  const load = startLoad(cache)
  readRefusal(await api.act(shop.id, 'promote', '?wait=601'), 400)
  expectDone(await api.act(shop.id, 'promote'))
  await eventually('the promoted VCL serves', () => load.marks.has('better'))
  t.same(await load.stop(), { failures: [], marks: ['better', 'second'] })
  t.equal((await ask(cache, 'next.shop.example')).status, 404, 'the stage’s names are not promoted')
  const group = await readGroup(harness, shop.id)
  t.match(group, { staged: null, stateName: 'Active', revision: revision + 1 })
  t.equal(group.mainVCL.id, shop.next)
  t.equal((await readActions(harness, shop.id))[0], `promote ok ${revision + 1}`)
  t.notOk((await listOf(cache, shop.id)).includes(`cf-s-${shop.id}`))
  t.match(readRefusal(await api.act(shop.id, 'promote'), 409), /not staged/)
  expectDone(await api.act(shop.id, 'rollback'))
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
}

export async function checkDelstage(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { api, cache } = harness
  const before = await listVcls(cache)
  const body = { tags: [{ id: shop.web }], domains: [{ id: shop.nextDomain }] }
  expectDone(await stage(harness, shop.id, body))
  t.equal((await ask(cache, 'next.shop.example')).mark, 'unstaged', 'the newest of its own file')
  expectDone(await api.act(shop.id, 'delstage'))
  t.same(await listVcls(cache), before, 'no VCL is left')
  t.equal((await ask(cache, 'next.shop.example')).status, 404)
  t.equal((await ask(cache, 'shop.example')).mark, 'second')
  t.match((await readActions(harness, shop.id)).slice(0, 2), [/^delstage ok/, /^stage ok/])
  t.match(readRefusal(await api.act(shop.id, 'delstage'), 409), /not staged/)
  t.equal((await api.call('DELETE', `/domains/${shop.nextDomain}`)).status, 204)
}

/** Staged at its later place, with its own names: the routing switches from one label to the other. */
export async function checkSameNames(t: Test, harness: Pair, shop: Shop): Promise<void> {
  const { api, cache } = harness
  expectDone(await api.act(shop.id, 'undeploy'))
  t.same(await listVcls(cache), ['cf-idle'])
  expectDone(await stage(harness, shop.id, { tags: [{ id: shop.web }] }))
  t.equal((await ask(cache, 'shop.example')).mark, 'unstaged')
  t.match(readRefusal(await api.act(shop.id, 'deploy'), 409), /other groups hold/)
  const load = startLoad(cache)
  harness.port.forget()
  expectDone(await api.act(shop.id, 'promote'))
  t.same(await load.stop(), { failures: [], marks: ['unstaged'] })
  t.match(
    harness.port.changes().map((line) => line.split(' ')[0]),
    [...['vcl.inline', 'vcl.label', 'vcl.inline', 'vcl.use'], 'vcl.discard'],
  )
  t.match(await listOf(cache, shop.id), [/^cf-\d/, `cf-l-${shop.id}`])
  expectDone(await api.act(shop.id, 'undeploy'))
  t.same(await listVcls(cache), ['cf-idle'])
  t.equal((await api.call('DELETE', `/vclgroups/${shop.id}`)).status, 204)
}

/** Sends one request after the other for the group's name. */
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
