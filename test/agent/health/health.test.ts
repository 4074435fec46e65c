/** What the health endpoint reports to load balancers, and that the listener does nothing else. */
import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { startHealthListener } from '../../../src/agent/health/health-listener.js'
import {
  judgeHealth,
  servesDesired,
  type Health,
  type HealthFacts,
} from '../../../src/agent/health/judge-health.js'
import { desiredEngines, engineWorlds } from '../../support/arbitraries.js'

const log = pino({ level: 'silent' })
const facts: fc.Arbitrary<HealthFacts> = fc.record({
  cache: fc.constantFrom('running', 'stopped', 'unreachable'),
  servesDesired: fc.boolean(),
  draining: fc.boolean(),
  behind: fc.boolean(),
  isLinked: fc.boolean(),
})

void t.test('losing the coordinator never makes a cache unhealthy', (t) => {
  fc.assert(
    fc.property(facts, (one) => {
      const linked = judgeHealth({ ...one, isLinked: true })
      const lost = judgeHealth({ ...one, isLinked: false })
      return (
        lost.reasons.every((reason) => linked.reasons.includes(reason)) &&
        !lost.reasons.includes('behind')
      )
    }),
  )
  t.end()
})

void t.test('a cache is healthy while it serves the desired state and is not drained', (t) => {
  fc.assert(
    fc.property(facts, (one) => {
      const { status, reasons } = judgeHealth(one)
      const { cache, draining, behind, isLinked } = one
      const isWell = cache === 'running' && one.servesDesired && !draining && !(behind && isLinked)
      return (
        (status === 'healthy') === isWell &&
        (reasons.length === 0) === isWell &&
        reasons.includes('draining') === draining
      )
    }),
  )
  t.end()
})

void t.test('VCLs loaded beside the serving one make no difference', (t) => {
  const worlds = fc.tuple(desiredEngines, engineWorlds)
  fc.assert(
    fc.property(worlds, ([desired, { vcls, active, childRunning }]) => {
      const inventory = {
        childRunning,
        isReleasing: false,
        vcls: vcls.map(({ name, labelOf }) => ({ name, labelOf, active: name === active })),
      }
      const serves = servesDesired(desired, inventory)
      const more = [...inventory.vcls, { name: 'beside', active: false, labelOf: null }]
      const labels = new Map(vcls.map(({ name, labelOf }) => [name, labelOf]))
      return (
        serves === servesDesired(desired, { ...inventory, vcls: more }) &&
        (!serves || active === desired.active) &&
        (!serves || desired.labels.every(({ label, program }) => labels.get(label) === program))
      )
    }),
  )
  t.end()
})

void t.test('the listener serves only GET and HEAD of /health', async (t) => {
  let health: Health = { status: 'healthy', reasons: [] }
  const listen = { host: '127.0.0.1', port: 0 }
  const listener = await startHealthListener({ listen, read: () => health, log })
  t.teardown(() => listener.close())
  const url = `http://127.0.0.1:${listener.port}`
  const ask = (path: string, method = 'GET') => fetch(`${url}${path}`, { method })

  t.same(await (await ask('/health')).json(), { status: 'healthy', reasons: [] })
  health = { status: 'unhealthy', reasons: ['draining'] }
  const [get, head, root, post] = await Promise.all([
    ask('/health?x=1'),
    ask('/health', 'HEAD'),
    ask('/'),
    ask('/health', 'POST'),
  ])
  t.same([get.status, head.status, root.status, post.status], [503, 503, 404, 405])
  t.same(await get.json(), health)
  t.equal(await head.text(), '')
  t.equal(post.headers.get('allow'), 'GET, HEAD')
  await t.rejects(
    startHealthListener({ listen: { ...listen, port: listener.port }, read: () => health, log }),
    { message: /healthListen.*EADDRINUSE.*right would be/ },
  )
})

void t.test('idle connections are limited in number and closed soon', async (t) => {
  const read = (): Health => ({ status: 'healthy', reasons: [] })
  const listener = await startHealthListener({
    listen: { host: '127.0.0.1', port: 0 },
    read,
    log,
  })
  t.teardown(() => listener.close())
  const open = () => connect(listener.port, '127.0.0.1')
  const held = Array.from({ length: 100 }, open)
  await Promise.all(held.map((socket) => once(socket, 'connect')))

  await once(open(), 'close')
  t.pass('one more is not let in')
  await Promise.all(held.map((socket) => once(socket, 'close')))
  t.equal((await fetch(`http://127.0.0.1:${listener.port}/health`)).status, 200)
})
