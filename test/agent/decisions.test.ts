/** The pure decisions of the agent: what can be had when loads fail, what a first deploy waits with, what drifted, what locks. */
import fc from 'fast-check'
import t from 'tap'
import { findAttainable } from '../../src/agent/attainable.js'
import { describeDifferences, findForeign } from '../../src/agent/drift.js'
import { findLockReason } from '../../src/agent/lock.js'
import { holdForeign } from '../../src/agent/takeover.js'
import type { DesiredEngine } from '../../src/domain/desired-engine.js'
import type { EngineInventory } from '../../src/domain/engine-inventory.js'
import { planVcl } from '../../src/domain/vcl-plan.js'

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

void t.test('with failed loads a plan never needs them, and never takes from what serves', (t) => {
  fc.assert(
    fc.property(desiredEngines, inventories, (desired, inventory) => {
      const ours = names.filter((name) => name.startsWith('cf-'))
      const loaded = new Set(inventory.vcls.map((vcl) => vcl.name))
      const failed = new Set(
        desired.load.map((one) => one.name).filter((name) => !loaded.has(name)),
      )
      const attainable = findAttainable(desired, failed, inventory)
      const known = new Set([...ours, ...attainable.kept])
      const steps = planVcl({ desired: attainable.desired, inventory, ours: known })
      const active = inventory.vcls.find((vcl) => vcl.active)?.name
      for (const step of steps) {
        if (step.do === 'load') t.notOk(failed.has(step.name), 'what failed is not tried')
        if (step.do === 'use' && failed.has(desired.active))
          t.equal(active, undefined, 'what serves stays when what should serve did not load')
        if (step.do === 'discard' && failed.has(desired.active) && active !== undefined)
          t.notOk(step.names.includes(active), 'and is not unloaded')
      }
    }),
  )
  t.end()
})

void t.test('without failures all that is desired can be had', (t) => {
  fc.assert(
    fc.property(desiredEngines, inventories, (desired, inventory) => {
      t.same(findAttainable(desired, new Set(), inventory), { desired, kept: [] })
    }),
  )
  t.end()
})

void t.test('a cache that waits for its first deploy keeps everything that is not ours', (t) => {
  fc.assert(
    fc.property(desiredEngines, inventories, fc.subarray(names), (desired, inventory, list) => {
      const ours = new Set(list)
      const idle = { ...desired, labels: [], active: 'cf-idle' }
      const held = holdForeign(planVcl({ desired: idle, inventory, ours }), inventory, ours)
      for (const step of held) {
        t.ok(step.do === 'load' || step.do === 'discard', 'nothing is used, labelled or started')
        if (step.do === 'discard') t.ok(step.names.every((name) => ours.has(name)))
      }
    }),
  )
  t.end()
})

void t.test('drift names what is foreign and says what is not as desired', (t) => {
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
  const ours = new Set(['cf-1-a-1', 'cf-r-b', 'cf-l-1'])
  const good = {
    childRunning: true,
    vcls: [vcl('cf-1-a-1'), vcl('cf-r-b', true), vcl('cf-l-1', false, 'cf-1-a-1')],
  }
  t.same(describeDifferences(desired, good, ours), [])
  const bad = {
    childRunning: true,
    vcls: [vcl('hand', true), vcl('cf-r-b'), vcl('cf-l-1', false, 'hand')],
  }
  t.same(findForeign(bad, ours), ['hand'])
  t.same(describeDifferences(desired, bad, ours), [
    'hand is foreign',
    'cf-1-a-1 is gone',
    'cf-l-1 points to hand, not to cf-1-a-1',
    'hand is active, not cf-r-b',
  ])
  t.end()
})

void t.test('an agent takes the word of its own coordinator, at its own revision or later', (t) => {
  const held = { coordinatorId: 'one', heldRevision: 7 }
  t.equal(
    findLockReason({ coordinatorId: null, heldRevision: 0 }, { coordinatorId: 'two', revision: 1 }),
    null,
  )
  t.equal(findLockReason(held, { coordinatorId: 'one', revision: 7 }), null)
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
