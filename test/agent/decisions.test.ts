/** The agent's pure decisions: what is feasible when loads fail, what a first deploy holds back, what drifted, what locks. */
import fc from 'fast-check'
import t from 'tap'
import { spreadAddress } from '../../src/agent/link/coordinator-address.js'
import { findFeasible } from '../../src/agent/apply/feasible.js'
import { describeDifferences, findUnmanaged } from '../../src/agent/apply/drift.js'
import { emptyRecord } from '../../src/agent/agent-record.js'
import { findEarlier } from '../../src/agent/apply/good-states.js'
import { findLockReason } from '../../src/agent/host/lock.js'
import { FlapDamper, type EngineObservation } from '../../src/agent/engine/flap-damper.js'
import { leaveUnmanaged } from '../../src/vcl/takeover.js'
import type { DesiredEngine } from '../../src/vcl/desired-engine.js'
import type { EngineInventory } from '../../src/vcl/engine-inventory.js'
import { planVcl } from '../../src/vcl/plan.js'

const sha = 'a'.repeat(64)
const program = (name: string) => ({ name, sha })
const names = ['cf-1-a-1', 'cf-1-b-2', 'cf-2-c-1', 'boot', 'hand']

const desiredEngines = fc
  .record({
    load: fc.subarray(names.slice(0, 3), { minLength: 1 }),
    active: fc.nat(),
    labelled: fc.boolean(),
  })
  .map(({ load, active, labelled }): DesiredEngine => {
    const first = load[active % load.length] ?? 'cf-idle'
    const labels = labelled ? [{ label: 'cf-l-1', program: load[0] ?? 'cf-idle' }] : []
    return { load: load.map(program), labels, active: active % 5 === 0 ? 'cf-idle' : first }
  })
const inventories = fc
  .record({ there: fc.subarray(names), active: fc.nat(), label: fc.nat() })
  .map(({ there, active, label }): EngineInventory => {
    const activeName = there[active % Math.max(1, there.length)]
    const vcls = there.map((name) => ({ name, active: name === activeName, labelOf: null }))
    const target = there[label % (there.length + 1)]
    const labelled =
      target === undefined ? [] : [{ name: 'cf-l-1', active: false, labelOf: target }]
    return { childRunning: there.length > 0, vcls: [...vcls, ...labelled] }
  })

void t.test('a plan never uses failed loads and never unloads the serving VCL', (t) => {
  fc.assert(
    fc.property(desiredEngines, inventories, (desired, inventory) => {
      const managed = names.filter((name) => name.startsWith('cf-'))
      const loaded = new Set(inventory.vcls.map((vcl) => vcl.name))
      const failed = new Set(
        desired.load.map((one) => one.name).filter((name) => !loaded.has(name)),
      )
      const feasible = findFeasible(desired, failed, inventory)
      const known = new Set([...managed, ...feasible.kept])
      const steps = planVcl({ desired: feasible.desired, inventory, managed: known })
      const active = inventory.vcls.find((vcl) => vcl.active)?.name
      for (const step of steps) {
        if (step.do === 'load') t.notOk(failed.has(step.name), 'a failed load is not retried')
        if (step.do === 'use' && failed.has(desired.active))
          t.equal(active, undefined, 'the serving VCL stays when the desired one did not load')
        if (step.do === 'discard' && failed.has(desired.active) && active !== undefined)
          t.notOk(step.names.includes(active), 'the serving VCL is not unloaded')
      }
    }),
  )
  t.end()
})

void t.test('without failures everything desired is feasible', (t) => {
  fc.assert(
    fc.property(desiredEngines, inventories, (desired, inventory) => {
      t.same(findFeasible(desired, new Set(), inventory), { desired, kept: [] })
    }),
  )
  t.end()
})

void t.test('a cache that waits for its first deploy keeps all unmanaged VCLs', (t) => {
  fc.assert(
    fc.property(desiredEngines, inventories, fc.subarray(names), (desired, inventory, list) => {
      const managed = new Set(list)
      const idle = { ...desired, active: 'cf-idle' }
      const held = leaveUnmanaged(
        planVcl({ desired: idle, inventory, managed }),
        inventory,
        managed,
      )
      for (const step of held) {
        const isServing = inventory.vcls.some((vcl) => vcl.active)
        const allowed = ['load', 'label', 'discard', ...(isServing ? [] : ['use', 'start'])]
        t.ok(allowed.includes(step.do), 'no step uses or starts a VCL while one serves')
        const label = inventory.vcls.find((vcl) => step.do === 'label' && vcl.name === step.label)
        t.ok(!label || managed.has(label.name), 'no unmanaged label is moved')
        if (step.do === 'discard') t.ok(step.names.every((name) => managed.has(name)))
      }
    }),
  )
  t.end()
})

void t.test('drift lists unmanaged VCLs and describes each difference', (t) => {
  const desired = {
    load: [program('cf-1-a-1'), program('cf-r-b')],
    labels: [{ label: 'cf-l-1', program: 'cf-1-a-1' }],
    active: 'cf-r-b',
  }
  const vcl = (name: string, active = false, labelOf: string | null = null) => ({
    name,
    active,
    labelOf,
  })
  const managed = new Set(['cf-1-a-1', 'cf-r-b', 'cf-l-1'])
  const good = {
    childRunning: true,
    vcls: [vcl('cf-1-a-1'), vcl('cf-r-b', true), vcl('cf-l-1', false, 'cf-1-a-1')],
  }
  t.same(describeDifferences(desired, good, managed), [])
  const bad = {
    childRunning: true,
    vcls: [vcl('hand', true), vcl('cf-r-b'), vcl('cf-l-1', false, 'hand')],
  }
  t.same(findUnmanaged(bad, managed), ['hand'])
  t.same(describeDifferences(desired, bad, managed), [
    'hand is unmanaged',
    'cf-1-a-1 is gone',
    'cf-l-1 points to hand, not to cf-1-a-1',
    'hand is active, not cf-r-b',
  ])
  t.end()
})

void t.test('an agent follows its own coordinator at the held revision or a later one', (t) => {
  const held = { coordinatorId: 'one', heldRevision: 7, rolledBackTo: null }
  t.equal(
    findLockReason(
      { coordinatorId: null, heldRevision: 0, rolledBackTo: null },
      { coordinatorId: 'two', revision: 1 },
    ),
    null,
  )
  t.equal(findLockReason(held, { coordinatorId: 'one', revision: 7 }), null)
  const rolledBack = { ...held, rolledBackTo: 'was rolled back' }
  t.equal(findLockReason(rolledBack, { coordinatorId: 'one', revision: 8 }), 'was rolled back')
  t.equal(findLockReason(held, { coordinatorId: 'one', revision: 8 }), null)
  t.match(
    findLockReason(held, { coordinatorId: 'one', revision: 6 }),
    /holds revision 7, the coordinator knows 6/,
  )
  t.match(
    findLockReason(held, { coordinatorId: 'two', revision: 9 }),
    /enrolled at coordinator one/,
  )
  t.end()
})

const failing = { engineState: 'unreachable', engineError: 'refused' } as const
const answers = { engineState: 'running', engineError: null } as const

void t.test('a failure and the first recovery are reported at once', (t) => {
  const damper = new FlapDamper()
  t.equal(damper.judge(failing, 0), failing)
  t.equal(damper.judge(answers, 1), answers)
  t.equal(damper.judge(failing, 2), failing)
  t.equal(damper.judge(answers, 3), answers)
  t.end()
})

void t.test('after each further failure the cache must answer longer to count as running', (t) => {
  const damper = new FlapDamper()
  const seen = (observation: EngineObservation, nowMs: number) =>
    damper.judge(observation, nowMs).engineState
  let nowMs = 0
  const probations: number[] = []
  for (let failure = 1; failure <= 8; failure++) {
    damper.judge(answers, nowMs)
    damper.judge(failing, ++nowMs)
    const backAt = ++nowMs
    while (seen(answers, nowMs) !== 'running') nowMs += 500
    probations.push(nowMs - backAt)
  }
  t.same(probations, [0, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000])
  t.match(damper.judge(failing, ++nowMs), failing)
  t.match(damper.judge(answers, ++nowMs), { engineState: 'unknown', engineError: /9 times/ })
  t.equal(seen(failing, ++nowMs), 'unreachable', 'the state does not flap in between')
  nowMs += 300_001
  t.equal(seen(answers, nowMs), 'running', 'old failures are forgotten')
  t.end()
})

void t.test('the earlier good state is the newest one that served something else', (t) => {
  const state = (number: number, active: string, ...load: string[]) => ({
    number,
    at: number,
    record: { ...emptyRecord, desired: { ...emptyDesired, active, load: load.map(program) } },
  })
  const program = (name: string) => ({ name, sha: 'f'.repeat(64) })
  const emptyDesired = { load: [], labels: [], active: 'cf-idle' }
  const good = [
    state(1, 'cf-idle'),
    state(2, 'cf-1-a-1', 'cf-1-a-1'),
    state(3, 'cf-1-a-1', 'cf-1-a-1', 'cf-1-b-1'),
    state(4, 'cf-1-b-1', 'cf-1-a-1', 'cf-1-b-1'),
  ]
  const now = { desired: state(5, 'cf-1-b-1', 'cf-1-b-1').record.desired }
  t.equal(findEarlier(good, now)?.number, 3)
  t.equal(findEarlier(good.slice(3), now), undefined)
  t.equal(findEarlier(good, state(5, 'cf-1-a-1', 'cf-1-a-1').record)?.number, 4)
  t.end()
})

void t.test('an agent tries all its coordinators, starting with one derived from its name', (t) => {
  const caFile = null
  const begin = (name: string) => spreadAddress({ url: 'ws://a,ws://b,ws://c', caFile }, name)
  const names = Array.from({ length: 300 }, (_, at) => `edge-${at}`)
  const counts = new Map<string, number>()
  for (const name of names) {
    const address = begin(name)
    const seen = [0, 1, 2].map(() => {
      const { url } = address
      address.moveOn?.()
      return url
    })
    t.same(seen.toSorted(), ['ws://a', 'ws://b', 'ws://c'])
    t.equal(address.url, begin(name).url)
    counts.set(address.url, (counts.get(address.url) ?? 0) + 1)
  }
  t.ok(
    [...counts.values()].every((count) => count > 60),
    'the agents are spread over the coordinators',
  )
  t.equal(spreadAddress({ url: 'ws://a', caFile }, 'x').url, 'ws://a')
  t.end()
})
