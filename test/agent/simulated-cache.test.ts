/** Agents and simulated caches: each named fault during a deploy, and many agents in one thread. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { faultNames, type FaultName } from '../../protocol/simulator/faults.js'
import type { SimulatedEngine } from '../../protocol/simulator/simulated-engine.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import type { AgentConfig } from '../../src/agent/agent-config.js'
import {
  describeFewFiles,
  divideAgents,
  startSimulatedAgents,
} from '../../src/agent/simulated/simulated-agents.js'
import { parallel } from '../support/parallel.js'
import { eventually } from '../support/eventually.js'
import { root } from '../support/root.js'
import type { DesiredProgram } from '../../src/vcl/desired-engine.js'
import type { Hello } from '../../src/messages/agent-to-coordinator.js'
import { answering, idle, serving } from '../support/observe-cache.js'
import { startCoordinatorEnd, type CoordinatorEnd } from './coordinator-end.js'
import { changesIn, makeFolder, runTestAgent, type TestAgent } from './run-agent.js'

interface TestEnd {
  teardown(stop: () => void): unknown
}

const secret = Buffer.from('the secret of this cache\n')

function simulate(t: TestEnd): { engine: SimulatedEngine; config: AgentConfig['engine'] } {
  const engine = createSimulatedEngine({ secret, bootVcl: answering('foreign') })
  t.teardown(() => {
    engine.close()
  })
  return { engine, config: { mode: 'simulated', connect: () => engine.connect(), secret } }
}

/** Faults that end by themselves or with the connection; the others end only when removed. */
const passing = faultNames.filter(
  (name) => !['frozen', 'no-challenge', 'half-header', 'half-body', 'huge-length'].includes(name),
)

/** Tests run in parallel: each has a cache of its own and mostly waits. */
t.jobs = 8

/** Two, as an agent whose cache keeps failing waits longer each time (src/agent/engine/flap-damper.ts). */
for (const which of ['one agent', 'another'])
  void t.test(
    `whatever happens once in a deploy, the cache ends as desired: ${which}`,
    parallel(),
    async (t) => {
      const coordinator = await startCoordinatorEnd(t)
      const { engine, config } = simulate(t)
      const agent = await runTestAgent(t, coordinator, config)
      await eventually('linked', () => agent.isLinked())
      let revision = 1
      let last = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
      await coordinator.apply(revision, serving(last))

      const troubles = fc.record({
        name: fc.constantFrom(...passing),
        afterCommands: fc.nat({ max: 8 }),
      })
      await fc.assert(
        fc.asyncProperty(troubles, async ({ name, afterCommands }) => {
          revision += 1
          const mark = `v${revision}`
          const next = {
            name: `cf-1-aaaaaaaa-${revision}`,
            sha: coordinator.publish(answering(mark)),
          }
          const from = agent.lines.length
          engine.setFault(name, { afterCommands, times: 1, delayMs: 10 })
          const wanted = serving(next, last)
          const report = await coordinator.apply(revision, wanted)
          if (report.result === 'applied') t.same(report.failures, [])
          await eventually(`${mark} serves after ${name}`, () => holds(agent, revision))
          engine.setFault(null)
          const used = changesIn(agent, from).filter((line) => line.startsWith('vcl.use'))
          t.notOk(
            used.some((line) => line.includes('cf-idle')),
            'it never switched to the idle VCL',
          )
          last = next
        }),
        { numRuns: 4 },
      )
    },
  )

function holds(agent: TestAgent, revision: number): boolean {
  const { effectiveRevision, engineState } = agent.condition()
  return effectiveRevision === revision && engineState === 'running'
}

for (const name of ['truncated-reply', 'empty-list', 'wrong-status'] satisfies FaultName[])
  void t.test(
    `a vcl.list with the fault ${name} makes the agent Failing until it is gone`,
    parallel(),
    async (t) => {
      const coordinator = await startCoordinatorEnd(t)
      const { engine, config } = simulate(t)
      const agent = await runTestAgent(t, coordinator, config)
      await eventually('linked', () => agent.isLinked())
      await coordinator.apply(1, idle)

      engine.setFault(name, { onCommand: 'vcl.list' })

      await eventually('Failing', () => coordinator.condition()?.engineState === 'unknown')
      t.ok(coordinator.condition()?.engineError)
      engine.setFault(null)
      await eventually('running', () => coordinator.condition()?.engineState === 'running')
      t.same(coordinator.drifts(), [], 'an empty list is an error, not drift')
    },
  )

void t.test('a cache that is compiling is not Failing', parallel(), async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const { engine, config } = simulate(t)
  const agent = await runTestAgent(t, coordinator, config)
  await eventually('linked', () => agent.isLinked())
  await coordinator.apply(1, idle)
  const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
  const from = coordinator.received.length

  engine.setFault('slow-compile', { delayMs: 4000, times: 1 })
  t.match(await coordinator.apply(2, serving(one)), { result: 'applied' })

  const states = coordinator.received
    .slice(from)
    .flatMap((message) => ('condition' in message ? [message.condition.engineState] : []))
  t.ok(states.length >= 2, 'heartbeats arrived meanwhile')
  t.ok(states.every((state) => state === 'running'))
})

void t.test(
  'an agent that loses its link during a deploy continues after it reconnects',
  parallel(),
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const { engine, config } = simulate(t)
    const agent = await runTestAgent(t, coordinator, config)
    await eventually('linked', () => agent.isLinked())
    const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
    engine.setFault('slow-compile', { delayMs: 500, times: 1 })
    const report = coordinator.apply(2, serving(one))
    await coordinator.close()
    await coordinator.open()
    t.match(await report, { result: 'applied', loaded: [one.name] })
    t.equal(agent.condition().lockedBecause, null)
  },
)

void t.test('when the child dies during a load, only that load fails', parallel(), async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const { engine, config } = simulate(t)
  const agent = await runTestAgent(t, coordinator, config)
  await eventually('linked', () => agent.isLinked())
  const [one, two] = ['v1', 'v2'].map((mark) => ({
    name: `cf-1-aaaaaaaa-${mark}`,
    sha: coordinator.publish(answering(mark)),
  })) as [DesiredProgram, DesiredProgram] // two in, two out

  engine.setFault('child-death-on-load', { times: 1 })
  const lucky = await coordinator.apply(1, { ...idle, load: [one] })
  t.match(lucky, { result: 'applied', failures: [] }, 'one death does not condemn the VCL')
  await coordinator.apply(2, idle)
  // The agent retries both: the child dies at the first load of each, and at the second load of one.
  engine.setFault('child-death-on-load', { times: 3 })
  const report = await coordinator.apply(3, { ...idle, load: [one, two] })

  t.match(report, { result: 'failed', loaded: [two.name], failures: [{ program: one.name }] })
  await eventually('retried by itself', () => holds(agent, 3))
  const told = await eventually('the report', () =>
    coordinator.received.findLast(
      (one) => one.kind === 'applyReport' && one.revision === 3 && one.result === 'applied',
    ),
  )
  t.match(told, { failures: [] })
})

void t.test(
  'many simulated agents share a thread, a token and sources, and keep their keys',
  parallel(),
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const stateDir = await makeFolder(t)
    let tokens = 0
    const start = () =>
      startSimulatedAgents(
        {
          agentVersion: '0.1.0',
          count: 12,
          name: 'edge',
          tags: ['simulated'],
          compileMs: 0,
          hasTls: true,
          stateDir,
          thread: pathToFileURL(join(root, 'dist/src/agent/simulated/simulated-worker.js')),
          coordinator: { url: coordinator.url, caFile: null },
          joinToken: () => {
            tokens += 1
            return Promise.resolve('the-token')
          },
        },
        pino({ level: 'silent' }),
      )
    const first = await start()
    t.teardown(() => first.stop())
    const hellos = await allHellos(coordinator, 12)
    t.same(
      hellos
        .map((hello) => hello.name)
        .toSorted()
        .slice(0, 2),
      ['edge-sim-00001', 'edge-sim-00002'],
    )
    t.equal(tokens, 1, 'one token enrols all agents')
    t.ok(coordinator.authorizations.every((given) => given === 'Join the-token'))
    t.equal(new Set(hellos.map((hello) => hello.keyDigest)).size, 12)
    t.ok(hellos.every(({ capabilities }) => capabilities.includes('tls')))
    t.ok(hellos.every((hello) => hello.condition.engineState === 'running'))
    const keys = JSON.parse(
      await readFile(join(stateDir, 'simulated', 'keys.json'), 'utf8'),
    ) as object
    t.equal(Object.keys(keys).length, 12)
    await first.stop()

    const second = await start()
    t.teardown(() => second.stop())
    const again = await allHellos(coordinator, 24)
    t.equal(new Set(again.map((hello) => hello.keyDigest)).size, 12, 'the keys are the same')
    t.equal(tokens, 1, 'the coordinator knows the keys')
  },
)

async function allHellos(coordinator: CoordinatorEnd, count: number): Promise<Hello[]> {
  await coordinator.hello(count)
  return coordinator.received.filter((message) => message.kind === 'hello')
}

void t.test('each core simulates a share of the agents, unless they are few', (t) => {
  const agents = Array.from({ length: 400 }, (_, index) => index)
  for (const [cores, count, threads] of [
    [2, 1, 1],
    [2, 99, 1],
    [2, 100, 2],
    [1, 400, 1],
    [16, 400, 8],
  ] as const) {
    const shares = divideAgents(agents.slice(0, count), cores)
    t.equal(shares.length, threads, `${count} agents, ${cores} cores`)
    t.strictSame(
      shares.flat().toSorted((a, b) => a - b),
      agents.slice(0, count),
    )
    const sizes = shares.map(({ length }) => length)
    t.ok(Math.max(...sizes) - Math.min(...sizes) <= 1)
  }
  t.end()
})

void t.test('a process with too few open files reports how many it needs', (t) => {
  const limits = (most: string): string =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${most}                 ${most}                 files\n`
  const few = describeFewFiles(limits('4096'), { count: 10_000, isOwn: false })
  t.match(few, /need 10200 open files and this process may have 4096.*ulimit -n 10200/)
  t.equal(describeFewFiles(limits('10200'), { count: 10_000, isOwn: false }), null)
  t.match(describeFewFiles(limits('10200'), { count: 10_000, isOwn: true }), /need 20200/)
  t.equal(describeFewFiles(limits('unlimited'), { count: 10_000, isOwn: true }), null)
  t.equal(describeFewFiles('', { count: 10_000, isOwn: true }), null, 'no limit is known')
  t.end()
})
