/** Labels wait until discarded VCLs that may return them are released. */
import fc from 'fast-check'
import t from 'tap'
import type { EngineInventory } from '../../src/vcl/engine-inventory.js'
import { leaveHeldLabels, splitLabels } from '../../src/vcl/held-labels.js'

const inventories = fc
  .record({
    isReleasing: fc.boolean(),
    programs: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
    targets: fc.array(fc.nat(3), { maxLength: 3 }),
  })
  .map(({ isReleasing, programs, targets }): EngineInventory => {
    const labels = targets.map((at, index) => ({
      name: `label-${index}`,
      active: false,
      labelOf: programs[at % programs.length] ?? null,
    }))
    const vcls = programs.map((name) => ({ name, active: false, labelOf: null }))
    return { childRunning: true, isReleasing, vcls: [...vcls, ...labels] }
  })

const cases = inventories.chain((inventory) =>
  fc.record({
    inventory: fc.constant(inventory),
    names: fc.subarray(inventory.vcls.map(({ name }) => name)),
  }),
)

void t.test('names are split into labels with their targets, and all others', (t) => {
  fc.assert(
    fc.property(cases, ({ inventory, names }) => {
      const { labels, others } = splitLabels(names, inventory)
      t.same([...labels, ...others].toSorted(), names.toSorted())
      const isLabel = (name: string) =>
        inventory.vcls.some((vcl) => vcl.name === name && vcl.labelOf)
      t.notOk(others.some(isLabel))
      for (const { name, labelOf } of inventory.vcls)
        if (labelOf !== null && names.includes(name)) t.notOk(others.includes(labelOf))
    }),
  )
  t.end()
})

void t.test(
  'a discard of labels only waits while a VCL is being released; other steps do not',
  (t) => {
    fc.assert(
      fc.property(cases, ({ inventory, names }) => {
        const steps = [{ do: 'use', name: 'a' } as const, { do: 'discard', names } as const]
        const left = leaveHeldLabels(steps, inventory)
        const waits =
          inventory.isReleasing === true && splitLabels(names, inventory).others.length === 0
        t.same(left, waits ? steps.slice(0, 1) : steps)
      }),
    )
    t.end()
  },
)
