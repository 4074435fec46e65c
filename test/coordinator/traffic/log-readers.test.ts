/** Readers of the live log: their number, the share of each, and one that does not read (docs/behaviour.md, Live log). */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { logOrderSubject, logPartSubject } from '../../../src/coordinator/bus/subjects.js'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { openTraffic, type Traffic } from '../../../src/coordinator/traffic/traffic.js'
import type { LoggedTransaction } from '../../../src/messages/live-log.js'
import { listen } from '../../support/event-client.js'
import { eventually } from '../../support/eventually.js'
import { enrol } from '../controller/client.js'
import { startTenants } from '../identity/people.js'

const request: LoggedTransaction = {
  at: 0,
  method: 'GET',
  host: 'shop.example',
  status: 200,
  bytes: 1,
  ttfbMs: 1,
  durationMs: 1,
  handling: 'hit',
  backend: '-',
  xid: 1,
  client: '127.0.0.1',
  groupId: null,
  url: `/${'x'.repeat(2_000)}`,
}

/** One agent whose log can be read. `tell` publishes as the coordinator that has its link does. */
async function startFleet(t: Test) {
  let traffic: Traffic | undefined
  t.teardown(() => traffic?.close())
  const tenants = await startTenants(t, {
    resources: (service, parts) => {
      traffic = openTraffic({ service, ...parts }, pino({ level: 'silent' }))
      return [...resourceRoutes(service), ...traffic.routes]
    },
  })
  const { service } = tenants.controller
  const agentId = await enrol(tenants.controller, 'edge', {
    description: { capabilities: ['report', 'deploy', 'log'] },
  })
  const streams = new Set<string>()
  /** Lines per second that the agent may send of each stream, as last ordered. */
  const shares = new Map<string, number>()
  service.bus.subscribe(logOrderSubject, ({ orders }) => {
    for (const { stream, forMs, wanted } of orders) {
      shares.set(stream, wanted.linesPerSecond)
      if (forMs > 0) streams.add(stream)
      else streams.delete(stream)
    }
  })
  const tell = (count: number): void => {
    for (const stream of streams)
      service.bus.publish(logPartSubject(agentId), {
        agentId,
        stream,
        dropped: 0,
        ended: null,
        transactions: Array.from({ length: count }, () => request),
      })
  }
  const read = (token: string, query = '') =>
    listen(t, tenants.controller.base, { token, path: '/logs', query })
  return { ...tenants, streams, shares, tell, read }
}

void t.test('a stalled reader misses lines, learns how many, and is cut off', async (t) => {
  const { system, controller, streams, tell, read } = await startFleet(t)
  const [slow, late, quick] = [
    await read(system.token),
    await read(system.token),
    await read(system.token),
  ]
  await eventually('the agent has all streams', () => streams.size === 3)
  slow.pause()
  late.pause()
  // More than connections and queues hold together.
  for (let round = 0; round < 5; round++) {
    const before = quick.of('transaction').length + dropped(quick)
    for (let part = 0; part < 10; part++) tell(250)
    await eventually(
      'the quick reader is served',
      () => quick.of('transaction').length + dropped(quick) > before,
    )
  }
  late.resume()
  await eventually('the late reader learns how many it missed', () => dropped(late) > 0)

  await eventually('the slow reader is cut off', () => {
    // Its token is valid for many such rounds.
    controller.advance(1_000)
    return streams.size === 2
  })
  slow.resume()
  await eventually('its connection is closed', () => slow.closed)
  t.notOk(late.closed || quick.closed, 'no other reader is affected')
})

void t.test('the error names the reason why a chosen cache cannot be read', async (t) => {
  const { system, controller } = await startFleet(t)
  const id = await enrol(controller, 'bare', {
    description: { logTrouble: 'spawn varnishncsa ENOENT' },
  })
  const { errorMsg } = await system.call(503, 'GET', `/logs?agents=${id}`)
  t.match(errorMsg, /capability log, and serve the group; bare: spawn varnishncsa ENOENT$/)
})

void t.test('a coordinator serves at most two hundred readers', async (t) => {
  const { system, streams, shares, read } = await startFleet(t)
  const first = await read(system.token, '?limit=1000')
  await eventually('the agent has its stream', () => shares.size === 1)
  t.same([...shares.values()], [1_000])
  const others = await Promise.all(
    Array.from({ length: 199 }, () => read(system.token, '?limit=1000')),
  )
  const readers = [first, ...others]
  t.ok(readers.every(({ status }) => status === 200))
  const refused = await read(system.token)
  t.equal(refused.status, 429)
  t.match(refused.headers['retry-after'], /^\d+$/)
  readers[0]?.close()
  await eventually('there is room again', async () => (await read(system.token)).status === 200)
  await eventually('each has its stream', () => streams.size === 200)
  await eventually('they share the limit of a coordinator', () => {
    const all = [...streams].map((stream) => shares.get(stream) ?? 0)
    return all.every((share) => share === 50)
  })
})

function dropped(client: Awaited<ReturnType<typeof listen>>): number {
  return client.of('dropped').reduce((sum, { data }) => sum + Number(data['dropped']), 0)
}
