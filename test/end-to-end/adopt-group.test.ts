/** `--adopt-group`: hosts that run the same VCL become one group, without a command that changes a cache or a failed request. */
import t from 'tap'
import type { Reference } from '../support/api-client.js'
import { listen } from '../support/event-client.js'
import { eventually } from '../support/eventually.js'
import { answering, fetchMark, listVcls, quoted } from '../support/observe-cache.js'
import {
  addHost,
  adopt,
  intoFleet,
  startPlace,
  untilAdopted,
  type AdoptedAgent,
  type Place,
} from './adoption.js'
import { parallel } from '../support/parallel.js'
import { expectDone, readRefusal, startTraffic } from './harness.js'

/** Loads the text of `boot` under another name, as after a reload on the host. */
async function renameLoaded({ cache }: Place, vcl: string, name: string): Promise<void> {
  await cache.adm('vcl.inline', name, quoted(vcl))
  await cache.adm('vcl.use', name)
  await cache.adm('vcl.discard', 'boot')
}

void t.test('hosts that run the same VCL become one group', parallel(), async (t) => {
  const first = await startPlace(t, answering('live'))
  const { api } = first
  const second = await addHost(t, first, answering('live'))
  const third = await addHost(t, first, answering('other'))
  const places = [first, second, third]
  await renameLoaded(second, answering('live'), 'reload-7')
  const traffic = places.map(({ cache }) => startTraffic(t, cache))
  for (const { port } of places) port.forget()

  // Two arrive at once: one of them creates the group, the other joins it.
  await Promise.all([adopt(t, first, 'edge-1', intoFleet), adopt(t, second, 'edge-2', intoFleet)])
  const group = await untilAdopted(first, 'edge-1', 'fleet')
  t.equal((await untilAdopted(second, 'edge-2', 'fleet')).id, group.id)
  await adopt(t, third, 'edge-3', intoFleet)
  const own = await untilAdopted(third, 'edge-3')

  await t.test('no cache is changed, and each VCL keeps its name', async (t) => {
    t.same(
      places.map(({ port }) => port.changes()),
      [[], [], []],
    )
    t.same(await listVcls(second.cache), ['reload-7'])
    t.match(await api.readHistory(group.id), [{ revision: 1, action: 'adopt', result: 'ok' }])
  })

  await t.test('log lines of each agent name the group', async (t) => {
    await eventually('both logs can be read', async () => {
      const agents = await api.listAgents()
      return agents.every(({ capabilities }) => capabilities.includes('log'))
    })
    const { base } = first.coordinator
    const query = `?vclGroup=${group.id}&fields=agent,vclGroup`
    const log = await listen(t, base, { token: api.token, path: '/logs', query })
    for (const name of ['edge-1', 'edge-2'])
      await eventually(`the log of ${name} is read`, () =>
        log.of('transaction').find(({ data }) => (data['agent'] as Reference).name === name),
      )
    const groups = log.of('transaction').map(({ data }) => (data['vclGroup'] as Reference).id)
    t.same([...new Set(groups)], [group.id])
    log.close()
  })

  await t.test('a different text gets its own group, and the difference is reported', async (t) => {
    const agent = await api.findAgent('edge-3')
    const { text } = await api.call('GET', `/agents/${agent?.id ?? 0}`)
    const { adoption } = JSON.parse(text) as AdoptedAgent // the API's schema
    t.match(adoption, {
      result: 'adopted',
      error: 'VCL group "fleet" has another text',
      group: { id: own.id, name: 'adopted-edge-3' },
      difference: /^--- VCL group fleet\n\+\+\+ agent edge-3\n@@[^]*\n-[^]*live[^]*\n\+[^]*other/,
    })
    t.match(await api.findAgent('edge-2'), {
      adoption: { error: null, group: { id: group.id, name: 'fleet' } },
    })
  })

  await t.test('deploying the same text again changes nothing', async (t) => {
    expectDone(await api.act(group.id, 'deploy'))
    t.equal((await api.readHistory(group.id)).length, 1)
    t.same([first.port.changes(), second.port.changes()], [[], []])
  })

  await t.test('an edit is deployed to all of them, and rolled back by a switch', async (t) => {
    await api.editFile(group.mainVCL.id, answering('edited'))
    expectDone(await api.act(group.id, 'deploy'))
    for (const { cache } of [first, second]) t.equal((await fetchMark(cache)).mark, 'edited')
    t.equal((await fetchMark(third.cache)).mark, 'other')
    for (const { port } of places) port.forget()
    expectDone(await api.act(group.id, 'rollback'))
    for (const { cache } of [first, second]) t.equal((await fetchMark(cache)).mark, 'live')
    t.same(
      places
        .flatMap(({ port }) => port.changes())
        .filter((line) => !/^vcl\.(use|discard)/.test(line)),
      [],
    )
  })

  t.same(
    traffic.flatMap(({ failures }) => [...failures]),
    [],
  )

  await t.test('its tag can be deleted once no deployment uses it', async (t) => {
    const tag = await api.findTag('adopted-fleet')
    readRefusal(await api.call('DELETE', `/tags/${tag}`), 409)
    expectDone(await api.act(group.id, 'undeploy'))
    for (const path of [`vclgroups/${group.id}`, `deployments/${group.deployments[0]?.id ?? 0}`])
      t.equal((await api.call('DELETE', `/${path}`)).status, 204)
    t.same((await api.findAgent('edge-2'))?.tags, [], 'the agent has lost the tag')
    t.equal((await api.call('DELETE', `/tags/${tag}`)).status, 204)
  })
})
