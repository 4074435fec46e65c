/** Event streams, for each store: order, resuming, reset, visibility. */
import type { Test } from 'tap'
import { keptMs } from '../../../src/coordinator/events/event-recorder.js'
import { dataFor, eventTypes } from '../../../src/resources/event.js'
import {
  deleteOldEvents,
  insertEvents,
  lockEventCounter,
  readEventBounds,
  readEvents,
  readEventsFor,
} from '../../../src/coordinator/events/event-queries.js'
import { markSilentDown } from '../../../src/coordinator/fleet/silence-queries.js'
import { eventually } from '../../support/eventually.js'
import { heard, listen, type EventClient } from '../../support/event-client.js'
import { addPlacement } from '../store/rows.js'
import { enrol } from '../controller/client.js'
import { idOf, startTenants, type Tenants } from '../identity/people.js'

const deployment = { min: 1, max: 1 }

export function eventsContract(t: Test, makeUrl: () => Promise<string>): void {
  const start = async (t: Test): Promise<Tenants> =>
    startTenants(t, { storeUrl: await makeUrl(), withEvents: true })

  void t.test('events arrive in order and show objects as the API does', async (t) => {
    const tenants = await start(t)
    const { system, controller } = tenants
    // The client gets events of all types, so that ids have no gaps.
    const query = '?also=file,vclgroup,domain,tag'
    const client = await listen(t, controller.base, { ...system, query })
    t.equal(client.status, 200)
    t.match(client.headers['content-type'], /^text\/event-stream/)
    t.equal(client.headers['cache-control'], 'no-store')

    const tag = await system.call(201, 'POST', '/tags', { name: 'eu' })
    const agentId = await enrol(controller, 'edge-1')
    await heard(client, 'agent', { id: agentId, name: 'edge-1' })
    await system.call(200, 'PUT', `/agents/${agentId}`, { tags: [{ id: idOf(tag) }] })
    await eventually('the agent has its tag', () =>
      client.of('agent').find(({ data }) => JSON.stringify(data['tags']) !== '[]'),
    )
    const agent = await system.call(200, 'GET', `/agents/${agentId}`)
    t.match(agent['tags'], [{ id: idOf(tag) }])
    t.strictSame(client.of('agent').at(-1)?.data, agent)

    const made = await system.call(201, 'POST', '/deployments', {
      name: 'all',
      ...deployment,
      tags: [{ id: idOf(tag) }],
    })
    const told = await heard(client, 'deployment', { id: idOf(made) })
    t.strictSame({ ...told.data, agents: [], problems: [] }, { ...made, vclgroup: null })

    const log = await heard(client, 'apilog', { path: '/api/v1/deployments', status: 201 })
    const logs = await controller.call(
      'GET',
      `/api/v1/apilogs?id=${String(log.data['id'])}`,
      system,
    )
    t.strictSame([log.data], JSON.parse(logs.text))

    await system.call(204, 'DELETE', `/deployments/${idOf(made)}`)
    await heard(client, 'deployment', { id: idOf(made), deleted: true })
    await system.call(204, 'DELETE', `/agents/${agentId}`)
    await heard(client, 'agent', { id: agentId, deleted: true })
    const ids = client.events.map(({ id }) => id)
    t.strictSame(
      ids,
      ids.map((_, at) => (ids[0] ?? 0) + at),
      'ids are consecutive',
    )
  })

  void t.test('an unchanged heartbeat sends no event, a changed state does', async (t) => {
    const { controller, system } = await start(t)
    const id = await enrol(controller, 'edge-1')
    const client = await listen(t, controller.base, { ...system, lastEventId: 0 })
    await heard(client, 'agent', { id })
    const before = client.of('agent').length
    const { queries } = controller.service.store

    await queries.updateTable('agents').set({ lastHeartbeatAt: Date.now() }).execute()
    await markSilentDown(queries, Date.now() + 1000, Date.now())

    const told = { id, state: 3, engineState: null, lastEngineState: 'running' }
    await heard(client, 'agent', told)
    t.equal(client.of('agent').length, before + 1)
  })

  void t.test('the progress of a deploy is sent as events of its deployment', async (t) => {
    const { controller, system } = await start(t)
    const { queries } = controller.service.store
    const tag = await system.call(201, 'POST', '/tags', { name: 'eu' })
    const made = await system.call(201, 'POST', '/deployments', {
      name: 'all',
      ...deployment,
      tags: [tag],
    })
    const file = await system.call(201, 'POST', '/files', { name: 'a.vcl', source: 'vcl 4.1;' })
    const group = await system.call(201, 'POST', '/vclgroups', {
      name: 'shop',
      mainVCL: file,
      deployments: [made],
    })
    const client = await listen(t, controller.base, { ...system, lastEventId: 0 })
    const agentId = await enrol(controller, 'edge-1')
    const place = queries.updateTable('placements').where('agentId', '=', agentId)

    await addPlacement(queries, idOf(group), agentId, idOf(made))
    await told({ wanted: 1 })
    await place.set({ candidateState: 'pending' }).execute()
    await told({ applying: 1 })
    const count = client.of('deployment').length
    await place.set({ error: 'not shown here', candidateState: 'pending' }).execute()
    await place.set({ candidateState: null, state: 'applied', appliedRevision: 1 }).execute()
    await told({ applied: 1 })

    t.equal(client.of('deployment').length, count + 1, 'hidden changes send no event')
    t.match(client.of('deployment').at(-1)?.data, {
      id: idOf(made),
      name: 'all',
      stateName: 'Inactive',
      vclgroup: { id: idOf(group), name: 'shop', deployed: false, stateName: 'Inactive' },
    })

    async function told(counts: Record<string, number>): Promise<void> {
      const places = { wanted: 0, applying: 0, applied: 0, failed: 0, ...counts }
      await eventually(`told ${JSON.stringify(counts)}`, () =>
        client
          .of('deployment')
          .some(({ data }) => JSON.stringify(data).includes(JSON.stringify(places))),
      )
    }
  })

  void t.test('a caller that resumes from any id gets the rest exactly once', async (t) => {
    const { controller, system } = await start(t)
    const whole = await listen(t, controller.base, { ...system, lastEventId: 0 })
    for (let at = 0; at < 5; at++) await system.call(201, 'POST', '/tags', { name: `tag-${at}` })
    await enrol(controller, 'edge-1')
    await eventually('five calls have arrived', () => whole.of('apilog').length >= 5)
    await eventually('the agent has arrived', () => whole.of('agent').length >= 1)
    const wanted = whole.events.map(({ id }) => id)
    t.equal(wanted[0], 1)
    const last = wanted.at(-1) ?? 0

    for (const lastEventId of [0, ...wanted]) {
      const client = await listen(t, controller.base, { ...system, lastEventId })
      await eventually('the rest has arrived', () => client.lastId >= last)
      t.strictSame(
        client.events.filter(({ id }) => id <= last),
        whole.events.filter(({ id }) => id > lastEventId && id <= last),
      )
      client.close()
    }
  })

  void t.test('a client that resumes amid new events misses none', async (t) => {
    const { controller, system } = await start(t)
    const whole = await listen(t, controller.base, { ...system, lastEventId: 0 })
    let sent = 0
    const working = (async () => {
      for (; sent < 120; sent++) await addLog(controller, sent)
    })()
    const clients: EventClient[] = []
    const starts: number[] = []
    for (let at = 0; at < 6; at++) {
      await eventually('more calls have arrived', () => whole.of('apilog').length > at * 15)
      const lastEventId = whole.events[at * 2]?.id ?? 0
      starts.push(lastEventId)
      clients.push(await listen(t, controller.base, { ...system, lastEventId }))
    }
    await working
    await heard(whole, 'apilog', { msg: 'call 119' })

    for (const [at, client] of clients.entries()) {
      await heard(client, 'apilog', { msg: 'call 119' })
      t.strictSame(
        client.events,
        whole.events.filter(({ id }) => id > (starts[at] ?? 0)),
      )
    }
  })

  void t.test('an old or unknown id gets a reset; its stream continues from now', async (t) => {
    const { controller, system } = await start(t)
    const early = await listen(t, controller.base, { ...system, lastEventId: 0 })
    await heard(early, 'apilog', { path: '/api/v1/auth/login' })
    await addLog(controller, 3)
    const { id: newest } = await heard(early, 'apilog', { msg: 'call 3' })

    const later = String(newest + 1)
    for (const lastEventId of ['nonsense', '-1', later, '9'.repeat(20), 'x'.repeat(4000)]) {
      const client = await listen(t, controller.base, { ...system, lastEventId })
      t.equal(client.status, 200)
      await heard(client, 'reset', {})
      t.match(client.events, [{ id: newest, event: 'reset', data: { reason: /Last-Event-ID/ } }])
      client.close()
    }
    controller.advance(keptMs + 1)
    // Events older than an hour are deleted within a minute; new events do not wait for that.
    await eventually('old events are deleted', async () => {
      const { queries } = controller.service.store
      return (await queries.selectFrom('events').select('id').execute()).length === 0
    })
    const token = await controller.login()
    const old = await listen(t, controller.base, { token, lastEventId: 1 })
    await heard(old, 'reset', {})
    const upToDate = await listen(t, controller.base, { token, lastEventId: old.lastId })
    await addLog(controller, 9)
    await heard(old, 'apilog', { msg: 'call 9' })
    await heard(upToDate, 'apilog', { msg: 'call 9' })
    t.strictSame(upToDate.of('reset'), [])
  })

  void t.test('old and excess events are deleted, oldest first, in small steps', async (t) => {
    const { store } = (await start(t)).controller.service
    await store.transaction(async (queries) => {
      const last = await lockEventCounter(queries)
      await queries.deleteFrom('events').execute()
      const events = Array.from({ length: 30 }, (_, at) => ({
        type: 'agent' as const,
        organizationId: null,
        about: null,
        data: '{}',
        sharedData: null,
        createdAt: at < 10 ? 1 : Number.MAX_SAFE_INTEGER,
      }))
      await insertEvents(queries, last, events)
      const oldest = () => readEventBounds(queries).then((bounds) => (bounds.oldest ?? 0) - last)
      const remove = async (kept: number, limit: number) => [
        await deleteOldEvents(queries, { createdBefore: 2, kept, limit }),
        await oldest(),
      ]
      t.strictSame(await remove(100, 5), [5, 6])
      t.strictSame(await remove(100, 20), [5, 11])
      t.strictSame(await remove(100, 20), [0, 11])
      t.strictSame(await remove(15, 20), [5, 16])
    })
  })

  void t.test('a client that resumes gets past events as if it had been live', async (t) => {
    const { controller } = await start(t)
    const { queries } = controller.service.store
    const rows = eventTypes.flatMap((type) =>
      [null, 1, 2].flatMap((organizationId) =>
        [null, '{}'].map((sharedData) => ({ type, organizationId, sharedData })),
      ),
    )
    await queries.deleteFrom('events').execute()
    const first = 1000
    await insertEvents(
      queries,
      first,
      rows.map((row) => ({ ...row, createdAt: 1, about: null, data: '{"of":"owner"}' })),
    )
    const whole = (await readEvents(queries, first, 100)).slice(0, rows.length)

    for (const organizationId of [null, 1, 2, 3])
      for (const types of [[], ['agent'], ['apilog', 'deployment'], eventTypes] as const) {
        const filter = { organizationId, types }
        const range = { after: first, until: first + rows.length, limit: 100 }
        t.strictSame(
          await readEventsFor(queries, filter, range),
          whole.filter((event) => dataFor(filter, event) !== null),
          JSON.stringify(filter),
        )
      }
  })

  void t.test('events of one organization are not sent to another', async (t) => {
    const tenants = await start(t)
    const { controller, system } = tenants
    const [one, two] = [
      await tenants.makeOrganization('one'),
      await tenants.makeOrganization('two'),
    ]
    const [ann, ben] = [
      await tenants.addPerson('ann', 'one'),
      await tenants.addPerson('ben', 'two'),
    ]
    const root = await listen(t, controller.base, { ...system, lastEventId: 0 })
    const [anns, bens] = [
      await listen(t, controller.base, { ...ann, lastEventId: 0 }),
      await listen(t, controller.base, { ...ben, lastEventId: 0 }),
    ]
    const ids = [
      await enrol(controller, 'edge-1', { organizationId: one }),
      await enrol(controller, 'edge-2', { organizationId: two }),
      await enrol(controller, 'edge-3'),
    ]
    const { queries } = controller.service.store
    const drift = JSON.stringify({ at: 'now', foreign: ['secret'], action: 'x', healedAt: null })
    await queries.updateTable('agents').set({ drift }).execute()
    await ann.call(201, 'POST', '/tags', { name: 'of-ann' })
    await ben.call(201, 'POST', '/tags', { name: 'of-ben' })

    await eventually('all agents have arrived', () => root.of('agent').length >= 3)
    await heard(anns, 'apilog', { account: 'ann', path: '/api/v1/tags' })
    await heard(bens, 'apilog', { account: 'ben', path: '/api/v1/tags' })
    await heard(root, 'apilog', { account: 'ben', path: '/api/v1/tags' })
    const shared = await eventually('the drift of the shared agent', () =>
      root
        .of('agent')
        .find(({ data }) => data['id'] === ids[2] && JSON.stringify(data).includes('secret')),
    )
    for (const client of [anns, bens]) {
      const seen = await eventually('the shared agent', () =>
        client.events.find(({ id }) => id === shared.id),
      )
      t.match(seen.data, { id: ids[2], drift: null })
    }
    t.strictSame(namesOf(anns), ['edge-1', 'edge-3'])
    t.strictSame(namesOf(bens), ['edge-2', 'edge-3'])
    t.strictSame(namesOf(root), ['edge-1', 'edge-2', 'edge-3'])
    t.ok(anns.of('apilog').every(({ data }) => data['account'] === 'ann'))
  })
}

function namesOf(client: EventClient): unknown[] {
  return [...new Set(client.of('agent').map(({ data }) => data['name']))].toSorted()
}

/** Writes an entry of the API log without a call. */
export async function addLog(
  { service }: Tenants['controller'],
  number: number,
  organizationId: number | null = null,
): Promise<void> {
  await service.store.queries
    .insertInto('apiLogs')
    .values({
      organizationId,
      createdAt: service.now(),
      severity: 1,
      msg: `call ${number}`,
      keyType: 'tag',
      keyId: null,
      traceId: 'trace-of-a-test',
      account: 'root',
      method: 'POST',
      path: '/api/v1/tags',
      status: 201,
    })
    .execute()
}
