/** Live samples in event streams: which agents and counters, for how long, and how many. */
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

/** Publishes a sample, like the coordinator with the link of the agent. */
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
  'a listener gets the samples of the agents that it names, and no other samples',
  async (t) => {
    const { ann, system, base, controller, organizationId } = await startAcme(t)
    const own = await enrol(controller, 'own', { organizationId })
    const shared = await enrol(controller, 'shared')
    const other = await enrol(controller, 'other', { organizationId })
    const watched: unknown[] = []
    controller.service.bus.subscribe(agentWatchSubject, (hint) => watched.push(hint))

    const anns = await listen(t, base, { ...ann, query: `?live=${own},${shared}` })
    const root = await listen(t, base, { ...system, query: `?live=${shared}` })
    await eventually('the agents are watched', () => JSON.stringify(watched).includes(`${shared}`))
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
      'backends of a shared cache are hidden from organizations',
    )
    t.strictSame(root.of('sample').length, 1)
  },
)

void t.test('samples in an open stream follow changes of permissions', async (t) => {
  const { system, addPerson, base, controller, organizationId } = await startAcme(t)
  const ben = await addPerson('ben', 'acme')
  const id = await enrol(controller, 'edge', { organizationId })
  for (const type of ['agent', 'apilog']) await grant(system, ben, organizationId, type)
  t.equal((await listen(t, base, { ...ben, query: `?live=${id}` })).status, 403)
  const permission = await grant(system, ben, organizationId, 'stats')
  const client = await eventually('Ben may watch the agent', async () => {
    const asked = await listen(t, base, { ...ben, query: `?live=${id}` })
    return asked.status === 200 ? asked : undefined
  })
  sample(controller, id, 1)
  await eventually('Ben gets the sample', () => hasValue(client, 1))

  await system.call(204, 'DELETE', `/permissions/${idOf(permission)}`)

  let value = 1
  await eventually('Ben gets no more samples', async () => {
    sample(controller, id, ++value)
    // A later event that Ben gets: the sample would have arrived before it.
    await addLog(controller, value, organizationId)
    await heard(client, 'apilog', { msg: `call ${value}` })
    return !hasValue(client, value)
  })
  t.notOk(client.closed)
})

void t.test('a client that stops reading misses samples, but is not cut off', async (t) => {
  const { ann, base, controller, organizationId } = await startAcme(t)
  const id = await enrol(controller, 'edge', { organizationId })
  const client = await listen(t, base, { ...ann, query: `?live=${id}` })
  client.pause()
  const many = Array.from({ length: 2_000 }, (_, at) => `MAIN.${'x'.repeat(40)}${at}`)
  // About 100 kB each: together more than the connection and its buffer limit hold.
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
  await eventually('it gets later samples', () => {
    sample(controller, id, ++value)
    return client.of('sample').some(({ data }) => JSON.stringify(data).includes('MAIN.cache_hit'))
  })
  t.ok(client.of('sample').length < sent + value, 'some were dropped')
  t.notOk(client.closed)
})

void t.test('the number of agents that an account watches is limited', async (t) => {
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
  t.equal((await listen(t, base, ann)).status, 200, 'a stream without samples is accepted')
  t.equal((await listen(t, base, { ...system, query })).status, 200)
  clients[0]?.close()
  await eventually('a subscription is free again', async () => {
    const again = await listen(t, base, { ...ann, query: `?live=${ids[0] ?? 0}` })
    return again.status === 200
  })
})

void t.test('live subscriptions of an organization are limited by its quota', async (t) => {
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
