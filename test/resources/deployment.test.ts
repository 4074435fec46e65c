/** Rules on deployments that the coordinator, `cachefleet apply` and the page share. */
import fc from 'fast-check'
import t from 'tap'
import { findCountsProblem } from '../../src/resources/deployment.js'

void t.test('min is at least 1, and max at least min', (t) => {
  const count = fc.integer({ min: -2, max: 5 })
  fc.assert(
    fc.property(count, count, (min, max) => {
      const isRight = min >= 1 && max >= min
      return (findCountsProblem(min, max) === null) === isRight
    }),
  )
  t.equal(findCountsProblem(3, 2), 'max is 2 and min 3; max is at least min')
  t.end()
})
