/** The stage of a root group: alone on its agents, following the tags, promoted in place, interrupted by the death of a coordinator. */
import type { Test } from 'tap'
import { fetchMark, listVcls } from '../support/observe-cache.js'
import { eventually } from '../support/eventually.js'
import type { Varnishd } from '../support/varnishd.js'
import { listOf, readActions, readGroup, secondName, stage, type Pair } from './stage-pair.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readRefusal,
  startTraffic,
  untilAgent,
  type Site,
} from './harness.js'

export async function checkRoot(t: Test, harness: Pair, site: Site): Promise<void> {
  const { api, cache, second } = harness
  await editSite(harness, site, 'canary')
  const web = { id: await api.findTag('web') }
  const canary = { id: await api.findTag('canary') }
  t.match(
    readRefusal(await stage(harness, site.id, { tags: [web] }), 409),
    /edge: the group itself/,
  )
  const domain = await api.make('/domains', { fqdn: 'site.example' })
  const named = { tags: [canary], domains: [{ id: domain }] }
  t.match(readRefusal(await stage(harness, site.id, named), 400), /domains/)
  const other = await makeSite(harness, 'other', { tag: 'canary' })
  await deploySite(harness, other)
  t.match(
    readRefusal(await stage(harness, site.id, { tags: [canary] }), 409),
    /second: a root group/,
  )
  const foreseen = async () => {
    const path = `/vclgroups/${site.id}/placement?stage=true`
    return JSON.parse((await api.call('GET', path)).text) as unknown
  }
  t.match(await foreseen(), [
    { agent: { name: 'edge' }, chosen: false, reason: 'the group itself is placed there' },
    { agent: { name: secondName }, chosen: false, reason: 'a root group is placed there: "other"' },
  ])
  const foreseenNamed = `/vclgroups/${site.id}/placement?stage=true&domains=${domain}`
  t.match(readRefusal(await api.call('GET', foreseenNamed), 400), /domains/)
  expectDone(await api.act(other.id, 'undeploy'))
  t.match(await foreseen(), [{ chosen: false }, { chosen: true }])

  expectDone(await stage(harness, site.id, { tags: [canary], domains: [] }))
  t.equal((await fetchMark(second)).mark, 'canary')
  t.equal((await fetchMark(cache)).mark, 'site-first')
  t.match((await readGroup(harness, site.id)).staged, {
    domains: [],
    mainVCL: { version: 2 },
    agentStates: [{ agent: { name: secondName }, state: 'applied', error: null }],
  })
  t.match(readRefusal(await api.act(other.id, 'deploy'), 409), /other groups hold/)
  t.equal(
    (await api.readGroup(site.id)).agentStates.length,
    1,
    'a stage is not a place of the group',
  )
  readRefusal(
    await api.call('DELETE', `/agents/${(await untilAgent(harness, 'Running', secondName)).id}`),
    409,
  )
}

export async function checkFollowing(t: Test, harness: Pair, site: Site): Promise<void> {
  const { api, cache, second } = harness
  const edge = await untilAgent(harness, 'Running')
  const late = { id: await api.makeTag('late') }
  const untilMark = (of: Varnishd, mark: string | undefined) =>
    eventually(`serves ${mark ?? 'nothing'}`, async () => (await fetchMark(of)).mark === mark)
  const agent = await untilAgent(harness, 'Running', secondName)
  const assign = (id: number, tags: readonly { id: number }[]) =>
    api.call('PUT', `/agents/${id}?force=true`, { tags })
  expectDone(await assign(agent.id, [late]))
  expectDone(await stage(harness, site.id, { tags: [late] }))
  t.match(
    readRefusal(await api.call('DELETE', `/tags/${late.id}`), 409),
    /stage of VCL group "site"/,
  )

  expectDone(await assign(edge.id, [late]))
  expectDone(await api.act(site.id, 'deploy'))
  t.equal((await fetchMark(cache)).mark, 'canary', 'the stage skips the agent of the group')
  await editSite(harness, site, 'follower')
  expectDone(await assign(edge.id, []))
  expectDone(await stage(harness, site.id, { tags: [late] }))
  expectDone(await api.act(site.id, 'undeploy'))
  expectDone(await assign(edge.id, [late]))
  await untilMark(cache, 'follower')
  t.equal((await fetchMark(second)).mark, 'follower')
  expectDone(await assign(agent.id, []))
  await untilMark(second, undefined)
  t.equal((await fetchMark(second)).status, 503, 'without the tag, the stage leaves the agent')
}

export async function checkShortage(t: Test, harness: Pair, site: Site): Promise<void> {
  const { api, cache } = harness
  const before = await readGroup(harness, site.id)
  const { text } = await api.call('GET', `/deployments?name=site`)
  const [deployment] = JSON.parse(text) as { id: number }[] // a list of deployments
  const at = `/deployments/${deployment?.id ?? 0}`
  expectDone(await api.call('PUT', at, { min: 2, max: 2 }))
  t.match(readRefusal(await api.act(site.id, 'promote'), 503), /needs 2/)
  t.match(await readGroup(harness, site.id), before)
  t.match((await readActions(harness, site.id))[0], /^promote deployment $/)
  t.equal((await fetchMark(cache)).mark, 'follower')
  expectDone(await api.call('PUT', at, { min: 1, max: 1 }))
}

export async function checkInPlace(t: Test, harness: Pair, site: Site): Promise<void> {
  const { api, cache } = harness
  await api.editFile(site.file, 'vcl 4.1;\nnonsense;\n')
  const { revision } = await readGroup(harness, site.id)
  const traffic = startTraffic(t, cache)
  expectDone(await api.act(site.id, 'promote'))
  t.equal((await fetchMark(cache)).mark, 'follower', 'the staged version, not the newest')
  await traffic.stop()
  t.same([...traffic.failures], [])
  t.same([...traffic.marks], ['follower'])
  const group = await readGroup(harness, site.id)
  t.match(group, { staged: null, stateName: 'Active', revision: revision + 1 })
  t.equal((await listOf(cache, site.id)).length, 1, 'the stage’s VCL is discarded')
}

export async function checkKilled(t: Test, harness: Pair, site: Site): Promise<void> {
  const { api, cache } = harness
  const web = { id: await api.findTag('web') }
  expectDone(await api.act(site.id, 'undeploy'))
  await editSite(harness, site, 'never')
  await killWhileLoading(t, harness, () => stage(harness, site.id, { tags: [web] }))
  await eventually('the stage is discarded', async () => {
    const [newest] = await readActions(harness, site.id)
    return newest === 'stage the ' && (await listVcls(cache)).join() === 'cf-idle'
  })
  t.equal((await readGroup(harness, site.id)).staged, null)
  expectDone(await stage(harness, site.id, { tags: [web] }))
  t.equal((await fetchMark(cache)).mark, 'never')

  const before = await readGroup(harness, site.id)
  const [program] = await listOf(cache, site.id)
  await killWhileLoading(t, harness, () => api.act(site.id, 'promote'))
  await eventually('the promote is discarded', async () => {
    const [newest] = await readActions(harness, site.id)
    return newest === 'promote the ' && (await listOf(cache, site.id)).join() === program
  })
  t.match(await readGroup(harness, site.id), before, 'group and stage are unchanged')
  t.equal((await fetchMark(cache)).mark, 'never')
  expectDone(await api.act(site.id, 'promote'))
  t.match(await readGroup(harness, site.id), { staged: null, stateName: 'Active' })
}

/** SIGKILL after the cache has loaded, and before the coordinator knows it. */
async function killWhileLoading(
  t: Test,
  harness: Pair,
  act: () => Promise<unknown>,
): Promise<void> {
  const { coordinator, port } = harness
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
  t.equal(await asked, undefined, 'the call has no answer')
  await coordinator.start()
  await untilAgent(harness, 'Running')
}
