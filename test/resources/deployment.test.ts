/** What is judged of a deployment alike by the coordinator, `cachefleet apply` and the page. */
import fc from 'fast-check'
import t from 'tap'
import { findCountsProblem } from '../../src/resources/deployment.js'

void t.test(
  'a deployment asks for at least one agent, and for no fewer at most than at least',
  (t) => {
    const count = fc.integer({ min: -2, max: 5 })
    fc.assert(
      fc.property(count, count, (min, max) => {
        const isRight = min >= 1 && max >= min
        return (findCountsProblem(min, max) === null) === isRight
      }),
    )
    t.equal(findCountsProblem(3, 2), 'max is 2 and min 3; max is at least min')
    t.end()
  },
)
