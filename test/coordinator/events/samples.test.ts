/** Samples of agents that a listener of events looks at: whose, which counters, for how long, how many. */
import t from 'tap'
import { agentWatchSubject, liveSampleSubject } from '../../../src/coordinator/bus/subjects.js'
import { liveAgentsOfAccount } from '../../../src/coordinator/events/sample-streams.js'
import { heard, listen, type EventClient } from '../../support/event-client.js'
import { eventually } from '../../support/eventually.js'
import type { Controller } from '../../support/start-controller.js'
import { enrol } from '../controller/client.js'
import { grant, idOf, startTenants } from '../identity/people.js'
import { addLog } from './events.contract.js'

const at = Date.UTC(2026, 0, 2)
const names = ['MAIN.cache_hit', 'VBE.shop.conn']

/** As the coordinator does that has the agent's link. */
function sample({ service }: Controller, agentId: number, value: number | null): void {
  service.bus.publish(liveSampleSubject(agentId), { agentId, at, names, values: [value, 3] })
}

function hasValue(client: EventClient, value: number): boolean {
  return client
    .of('sample')
    .some(({ data }) => JSON.stringify(data['values']).includes(`"MAIN.cache_hit":${value}`))
}

async function startAcme(t: Parameters<typeof startTenants>[0]) {
  const tenants = await startTenants(t, { withEvents: true })
  const organizationId = await tenants.makeOrganization('acme')
  const ann = await tenants.addPerson('ann', 'acme')
  return { ...tenants, organizationId, ann, base: tenants.controller.base }
}

void t.test(
  'a listener hears the samples of the agents that it names, and no others',
  async (t) => {
    const { ann, system, base, controller, organizationId } = await startAcme(t)
    const own = await enrol(controller, 'own', { organizationId })
    const shared = await enrol(controller, 'shared')
    const other = await enrol(controller, 'other', { organizationId })
    const watched: unknown[] = []
    controller.service.bus.subscribe(agentWatchSubject, (hint) => watched.push(hint))

    const anns = await listen(t, base, { ...ann, query: `?live=${own},${shared}` })
    const root = await listen(t, base, { ...system, query: `?live=${shared}` })
    await eventually('the agents are asked', () => JSON.stringify(watched).includes(`${shared}`))
    for (const agentId of [other, own, shared])
      sample(controller, agentId, agentId === own ? null : 2)

    const agent = { id: shared, name: 'shared' }
    const { data } = await heard(anns, 'sample', { agent })
    t.strictSame(data, { agent, at: '2026-01-02T00:00:00.000Z', values: { 'MAIN.cache_hit': 2 } })
    t.match(await heard(root, 'sample', { agent }), {
      data: { values: { 'MAIN.cache_hit': 2, 'VBE.shop.conn': 3 } },
    })
    t.strictSame(
      anns.of('sample').map(({ data }) => [data['agent'], data['values']]),
      [
        [
          { id: own, name: 'own' },
          { 'MAIN.cache_hit': null, 'VBE.shop.conn': 3 },
        ],
        [agent, { 'MAIN.cache_hit': 2 }],
      ],
      'backends on a shared cache are nobody else’s business',
    )
    t.strictSame(root.of('sample').length, 1)
  },
)

void t.test('samples follow the permissions while they are heard', async (t) => {
  const { system, addPerson, base, controller, organizationId } = await startAcme(t)
  const ben = await addPerson('ben', 'acme')
  const id = await enrol(controller, 'edge', { organizationId })
  for (const type of ['agent', 'apilog']) await grant(system, ben, organizationId, type)
  t.equal((await listen(t, base, { ...ben, query: `?live=${id}` })).status, 403)
  const permission = await grant(system, ben, organizationId, 'stats')
  const client = await eventually('he may look', async () => {
    const asked = await listen(t, base, { ...ben, query: `?live=${id}` })
    return asked.status === 200 ? asked : undefined
  })
  sample(controller, id, 1)
  await eventually('he hears it', () => hasValue(client, 1))

  await system.call(204, 'DELETE', `/permissions/${idOf(permission)}`)

  let value = 1
  await eventually('he hears samples no more', async () => {
    sample(controller, id, ++value)
    // A later event that he hears: he would have heard the sample by now.
    await addLog(controller, value, organizationId)
    await heard(client, 'apilog', { msg: `call ${value}` })
    return !hasValue(client, value)
  })
  t.notOk(client.closed)
})

void t.test('who takes nothing gets fewer samples, and is not cut off for them', async (t) => {
  const { ann, base, controller, organizationId } = await startAcme(t)
  const id = await enrol(controller, 'edge', { organizationId })
  const client = await listen(t, base, { ...ann, query: `?live=${id}` })
  client.pause()
  const many = Array.from({ length: 2_000 }, (_, at) => `MAIN.${'x'.repeat(40)}${at}`)
  // Some 100 kB each: more than the connection and what may wait hold together.
  const sent = 300
  for (let n = 0; n < sent; n++)
    controller.service.bus.publish(liveSampleSubject(id), {
      agentId: id,
      at,
      names: many,
      values: many.map(() => n),
    })
  client.resume()

  let value = 0
  await eventually('it hears what comes then', () => {
    sample(controller, id, ++value)
    return client.of('sample').some(({ data }) => JSON.stringify(data).includes('MAIN.cache_hit'))
  })
  t.ok(client.of('sample').length < sent + value, 'some were dropped')
  t.notOk(client.closed)
})

void t.test('an account looks at so many agents and no more', async (t) => {
  const { ann, system, base, controller, organizationId } = await startAcme(t)
  const ids: number[] = []
  for (let n = 0; n < 100; n++) ids.push(await enrol(controller, `edge-${n}`, { organizationId }))
  const query = `?live=${ids.join()}`
  const clients: EventClient[] = []
  for (let n = 0; n < liveAgentsOfAccount / ids.length; n++)
    clients.push(await listen(t, base, { ...ann, query }))
  t.ok(clients.every(({ status }) => status === 200))

  const refused = await listen(t, base, { ...ann, query: `?live=${ids[0] ?? 0}` })

  t.equal(refused.status, 429)
  t.match(refused.headers['retry-after'], /^\d+$/)
  t.equal((await listen(t, base, ann)).status, 200, 'without samples there is room')
  t.equal((await listen(t, base, { ...system, query })).status, 200)
  clients[0]?.close()
  await eventually('room again', async () => {
    const again = await listen(t, base, { ...ann, query: `?live=${ids[0] ?? 0}` })
    return again.status === 200
  })
})

void t.test('an organization looks live as often as its quota says', async (t) => {
  const { ann, system, base, controller, organizationId } = await startAcme(t)
  const id = await enrol(controller, 'edge-1', { organizationId })
  const query = `?live=${id}`
  await system.call(200, 'PUT', `/organizations/${organizationId}`, {
    quotas: { liveSubscriptions: 1 },
  })
  t.equal((await listen(t, base, { ...ann, query })).status, 200)

  const refused = await fetch(`${base}/api/v1/events${query}`, {
    headers: { authorization: `Bearer ${ann.token}` },
  })

  t.equal(refused.status, 429)
  t.match(
    await refused.text(),
    /organization \\"acme\\" has its quota of 1 live subscriptions; end some/,
  )
  t.equal((await listen(t, base, { ...system, query })).status, 200)
})
