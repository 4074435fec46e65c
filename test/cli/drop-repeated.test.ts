/** A problem that a deployment shares with its groups is listed once. */
import fc from 'fast-check'
import t from 'tap'
import { dropRepeated, type BorneProblem } from '../../src/cli/drop-repeated.js'

const row = (type: string, id: number, code: string, deploymentIds: number[] = []) => ({
  type,
  id,
  code,
  deploymentIds,
})

void t.test('several groups are represented by their deployment, a single group by itself', (t) => {
  const [shop, blog] = [
    row('vclgroup', 1, 'below-min', [7]),
    row('vclgroup', 2, 'below-min', [7, 8]),
  ]
  const [eu, us] = [row('deployment', 7, 'below-min'), row('deployment', 8, 'below-min')]
  t.same(dropRepeated([shop, blog, eu]), [eu])
  t.same(dropRepeated([shop, eu]), [shop])
  t.same(dropRepeated([blog, us]), [blog])
  t.same(dropRepeated([eu]), [eu], 'without access to the groups')
  t.same(dropRepeated([shop, blog]), [shop, blog], 'without access to the deployments')
  const refused = [row('vclgroup', 1, 'load-failed', [7]), row('vclgroup', 2, 'load-failed', [7])]
  t.same(dropRepeated([...refused, row('deployment', 7, 'load-failed')]), refused)
  t.end()
})

void t.test('every problem code remains listed, and all other nouns stay', (t) => {
  const rows: fc.Arbitrary<BorneProblem[]> = fc.array(
    fc.record({
      type: fc.constantFrom('agent', 'vclgroup', 'deployment'),
      id: fc.integer({ min: 1, max: 3 }),
      code: fc.constantFrom('below-min', 'load-failed', 'backend-sick'),
      deploymentIds: fc.subarray([1, 2, 3]),
    }),
  )
  fc.assert(
    fc.property(rows, (all) => {
      const told = dropRepeated(all)
      const codes = (some: readonly BorneProblem[]) => new Set(some.map(({ code }) => code)).size
      const agents = (some: readonly BorneProblem[]) => some.filter(({ type }) => type === 'agent')
      return codes(told) === codes(all) && agents(told).length === agents(all).length
    }),
  )
  t.end()
})
