/** From counters to figures, and which caches do worst. */
import fc from 'fast-check'
import t from 'tap'
import {
  addRates,
  emptyRates,
  findWorst,
  toFigures,
} from '../../../src/coordinator/overview/judge-figures.js'

const known = fc.float({ min: 0, max: 1e6, noNaN: true })
const rate = fc.oneof({ weight: 9, arbitrary: known }, fc.constant(Number.NaN))
const rates = fc.array(rate, { minLength: 6, maxLength: 6 })
const rows = fc.array(rates).map((all) => all.map((ofOne, at) => ({ id: at + 1, rates: ofOne })))

void t.test('a hit ratio is between 0 and 1, and unknown figures are null', (t) => {
  fc.assert(
    fc.property(rates, (ofOne) => {
      const { requests, hitRatio, failedFetches, errors } = toFigures(ofOne)
      const isShare = hitRatio === null || (hitRatio >= 0 && hitRatio <= 1)
      const isKnown = Number.isNaN(ofOne[0]) === (requests === null)
      const areKnown = Number.isNaN(ofOne[5]) === (errors === null)
      return isShare && isKnown && areKnown && (failedFetches ?? 0) >= 0
    }),
  )
  t.same(toFigures(emptyRates()), {
    requests: null,
    hitRatio: null,
    errors: null,
    failedFetches: null,
  })
  t.same(toFigures([10, 9, 1, 0.5, 0.25, 2]), {
    requests: 10,
    hitRatio: 0.9,
    errors: 2,
    failedFetches: 0.75,
  })
  t.end()
})

void t.test('a sum adds only the known rates', (t) => {
  fc.assert(
    fc.property(fc.array(rates), (all) => {
      const sum = emptyRates()
      for (const ofOne of all) addRates(sum, ofOne)
      return Array.from(sum).every((total, at) => {
        const values = all.map((ofOne) => ofOne[at] ?? 0).filter((value) => !Number.isNaN(value))
        const right = values.reduce((a, b) => a + b, 0)
        return values.length === 0 ? Number.isNaN(total) : Math.abs(total - right) <= 1e-6 * right
      })
    }),
  )
  t.end()
})

void t.test('the worst fail most; after them come those with the fewest hits', (t) => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 5 }), (all, most) => {
      const worst = findWorst(all, most)
      const failures = worst.map(({ figures }) => figures.failedFetches ?? 0)
      const failing = failures.filter((count) => count > 0)
      const ratios = worst.slice(failing.length).map(({ figures }) => figures.hitRatio ?? 1)
      const isSorted = (values: readonly number[]) =>
        values.every((value, at) => at === 0 || value >= (values[at - 1] ?? 0))
      const leastShown = failing.at(-1) ?? 0
      const isLeftOut = (id: number) => !worst.some((row) => row.id === id)
      return (
        worst.length <= most &&
        isSorted([...failing].reverse()) &&
        isSorted(ratios) &&
        ratios.every((ratio) => ratio < 1) &&
        (failing.length < most ||
          all
            .filter(({ id }) => isLeftOut(id))
            .every((row) => (toFigures(row.rates).failedFetches ?? 0) <= leastShown))
      )
    }),
  )
  const even = [90, 91, 92].map((hits, id) => ({ id, rates: [100, hits, 100 - hits, 0, 0] }))
  t.same(findWorst(even, 5), [], 'no cache is worse than the others')
  const odd = { id: 7, rates: [100, 40, 60, 0, 0] }
  t.match(findWorst([...even, odd], 5), [{ id: 7, figures: { hitRatio: 0.4 } }])
  t.end()
})
