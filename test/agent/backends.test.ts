/** An agent reports the health of the backends of serving VCLs: when it changes, and again on a new link. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Backend } from '../../protocol/commands/backend.js'
import type { SimulatedEngine } from '../../protocol/simulator/simulated-engine.js'
import { describeServed } from '../../src/agent/backends/served-backends.js'
import {
  maxReportedBackends,
  maxReportedNameLength,
  servedVcls,
  type ServedVcl,
} from '../../src/messages/backend-health.js'
import { prepareCheck } from '../../src/mismatch.js'
import { startOrigin } from '../end-to-end/origin.js'
import { parallel } from '../support/parallel.js'
import { eventually } from '../support/eventually.js'
import { idle, serving } from '../support/observe-cache.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { startVarnishd } from '../support/varnishd.js'
import { startCoordinatorEnd, type CoordinatorEnd } from './coordinator-end.js'
import { attachTo, runTestAgent } from './run-agent.js'

t.jobs = 3

const vclNames = ['boot', 'cf-1-aaaaaaaa-1', 'cf-2-bbbbbbbb-1', 'cf-r-cccccccc']
const anyBackend = fc
  .record({
    vcl: fc.constantFrom(...vclNames),
    own: fc.oneof(
      fc.stringMatching(/^[a-z][a-z0-9_.]{0,8}$/),
      fc.constant('x'.repeat(maxReportedNameLength + 1)),
    ),
    type: fc.constantFrom(null, 'backend', 'round-robin'),
    isHealthy: fc.boolean(),
    lastChangeSeconds: fc.constantFrom(null, 1_700_000_000.25),
  })
  .map(({ vcl, own, ...rest }): Backend => ({
    name: `${vcl}.${own}`,
    adminHealth: 'probe',
    good: 0,
    total: 8,
    details: null,
    ...rest,
  }))
const anyList = fc.uniqueArray(anyBackend, { selector: ({ name }) => name, maxLength: 40 })
const someVcls = [
  { name: 'boot', active: false, labelOf: null },
  { name: 'cf-r-cccccccc', active: true, labelOf: null },
  { name: 'cf-1-aaaaaaaa-1', active: false, labelOf: null },
  { name: 'cf-l-1', active: false, labelOf: 'cf-1-aaaaaaaa-1' },
]

void t.test('every backend of a serving VCL is named or counted, within the message limit', (t) => {
  const findMismatch = prepareCheck(servedVcls)
  fc.assert(
    fc.property(anyList, fc.nat({ max: 60 }), (some, more) => {
      const many = Array.from({ length: more * 20 }, (_, n): Backend => ({
        name: `cf-1-aaaaaaaa-1.m${n}`,
        type: 'backend',
        adminHealth: 'probe',
        good: 8,
        total: 8,
        isHealthy: n % 3 > 0,
        lastChangeSeconds: null,
        details: null,
      }))
      const all = [...some, ...many]
      const told = describeServed(someVcls, all)
      if (findMismatch(told)) return false
      const meant = all.filter(
        ({ name, type }) => name.startsWith('cf-1-') && (type === null || type === 'backend'),
      )
      const count = (isHealthy: boolean) =>
        meant.filter((backend) => backend.isHealthy === isHealthy).length
      const sum = (of: (vcl: ServedVcl) => number) => told.reduce((all, vcl) => all + of(vcl), 0)
      return (
        told.every(({ name }) => name === 'cf-1-aaaaaaaa-1') &&
        sum(({ sick, omitted }) => sick.length + omitted.sick) === count(false) &&
        sum(({ healthy, omitted }) => healthy.length + omitted.healthy) === count(true)
      )
    }),
  )
  t.end()
})

void t.test('sick backends are listed before healthy ones', (t) => {
  const backends = Array.from({ length: maxReportedBackends + 5 }, (_, n): Backend => ({
    name: `cf-1-aaaaaaaa-1.b${n}`,
    type: 'backend',
    adminHealth: 'probe',
    good: 0,
    total: 8,
    isHealthy: n < maxReportedBackends,
    lastChangeSeconds: 12.5,
    details: null,
  }))
  const [told] = describeServed(someVcls, backends)
  t.equal(told?.sick.length, 5)
  t.same(told?.sick[0], { name: `b${maxReportedBackends}`, since: 12_500 })
  t.equal(told?.healthy.length, maxReportedBackends - 5)
  t.same(told?.omitted, { healthy: 5, sick: 0 })
  t.same(describeServed(someVcls, backends), describeServed(someVcls, backends.toReversed()))
  t.end()
})

const probed = (port: number, names = ['origin']): string =>
  [
    'vcl 4.1;',
    'probe p { .interval = 0.2s; .timeout = 1s; .window = 3; .threshold = 2; .initial = 2; }',
    ...names.map((name) => `backend ${name}{.host="127.0.0.1";.port="${port}";.probe=p;}`),
    'backend unprobed { .host = "127.0.0.1"; .port = "9"; }',
    'sub vcl_recv {',
    ...[...names, 'unprobed'].map((name) => `set req.backend_hint=${name};`),
    '}',
  ].join('\n')

const reports = ({ received }: CoordinatorEnd) =>
  received.flatMap((message) => (message.kind === 'backends' ? [message.vcls] : []))

/** Reports equal to the previous one on the same link. */
function repeatedReports({ received }: CoordinatorEnd): readonly ServedVcl[][] {
  const repeated: ServedVcl[][] = []
  let told: string | undefined
  for (const message of received) {
    if (message.kind === 'hello') told = undefined
    if (message.kind !== 'backends') continue
    const text = JSON.stringify(message.vcls)
    if (text === told) repeated.push([...message.vcls])
    told = text
  }
  return repeated
}

const untilReported = (
  coordinator: CoordinatorEnd,
  what: string,
  is: (vcl: ServedVcl) => boolean,
) => eventually(what, () => reports(coordinator).at(-1)?.find(is))

void t.test(
  'an agent reports within a few checks that an origin went down or came back',
  parallel(),
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const origin = await startOrigin(t, 'site')
    const cache = await startVarnishd(t, { args: ['-p', 'vcc_allow_inline_c=off'] })
    await runTestAgent(t, coordinator, attachTo(cache))
    await coordinator.hello()
    const program = { name: 'cf-7-aaaaaaaa-1', sha: coordinator.publish(probed(origin.port)) }
    t.match(await coordinator.apply(1, serving(program)), { result: 'applied' })
    const well = await untilReported(
      coordinator,
      'all is well',
      ({ name, healthy }) => name === program.name && healthy.length === 2,
    )
    t.same(well, {
      name: program.name,
      healthy: ['origin', 'unprobed'],
      sick: [],
      omitted: { healthy: 0, sick: 0 },
    })

    origin.stop()
    const ill = await untilReported(coordinator, 'it is sick', ({ sick }) => sick.length > 0)
    t.match(ill, { healthy: ['unprobed'], sick: [{ name: 'origin' }] })
    t.ok(Math.abs((ill.sick[0]?.since ?? 0) - Date.now()) < 60_000, 'the probe sets the time')

    await cache.adm('backend.set_health', `${program.name}.origin`, 'healthy')
    await untilReported(coordinator, 'what is set wins', ({ sick }) => sick.length === 0)
  },
)

interface Simulated {
  readonly engine: SimulatedEngine
  readonly coordinator: CoordinatorEnd
}

async function simulate(t: Test, names: readonly string[]): Promise<Simulated> {
  const coordinator = await startCoordinatorEnd(t)
  const secret = Buffer.from('the secret of this cache\n')
  const engine = createSimulatedEngine({ secret })
  t.teardown(() => {
    engine.close()
  })
  await runTestAgent(t, coordinator, { mode: 'simulated', connect: () => engine.connect(), secret })
  await coordinator.hello()
  const text = probed(9, [...names])
  const program = { name: 'cf-7-aaaaaaaa-1', sha: coordinator.publish(text) }
  // The list of a thousand backends exceeds the cache's default response limit.
  const params = [{ name: 'cli_limit', value: '1m' }]
  t.match(await coordinator.apply(1, { ...serving(program), params }), { result: 'applied' })
  return { engine, coordinator }
}

void t.test(
  'an agent sends a report only on a change, and a full one on a new link',
  parallel(),
  async (t) => {
    const { engine, coordinator } = await simulate(t, ['origin'])
    await untilReported(coordinator, 'all is well', ({ healthy }) => healthy.length === 2)
    const beats = () => coordinator.received.filter(({ kind }) => kind === 'heartbeat').length
    const from = beats()
    await eventually('two more heartbeats arrived', () => beats() > from + 2)
    t.same(repeatedReports(coordinator), [])

    engine.setProbes('sick')
    await untilReported(coordinator, 'it is sick', ({ sick }) => sick[0]?.name === 'origin')
    t.same(repeatedReports(coordinator), [])
    await coordinator.close()
    coordinator.received.length = 0
    await coordinator.open()
    await untilReported(coordinator, 'it is told again', ({ sick }) => sick[0]?.name === 'origin')
    coordinator.received.length = 0
    coordinator.send({ kind: 'reportFullState' })
    await untilReported(coordinator, 'and once more', ({ sick }) => sick[0]?.name === 'origin')
    await coordinator.apply(2, idle)
    await eventually('no VCL serves any more', () => reports(coordinator).at(-1)?.length === 0)
  },
)

void t.test('of 1,001 backends 1,000 are named and one is counted', parallel(), async (t) => {
  const names = Array.from({ length: 1_000 }, (_, n) => `b${n}`)
  const { coordinator } = await simulate(t, names)
  const told = await untilReported(
    coordinator,
    'they are told',
    ({ healthy }) => healthy.length > 9,
  )
  t.equal(told.healthy.length, 1_000)
  t.same(told.omitted, { healthy: 1, sick: 0 })
})
