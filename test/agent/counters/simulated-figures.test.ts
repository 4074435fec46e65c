/** Figures of a simulated cache: its counters' totals, shared out among the groups and domains it serves. */
import fc from 'fast-check'
import t from 'tap'
import { countTraffic } from '../../../src/agent/counters/simulated-counters.js'
import { SimulatedFigures } from '../../../src/agent/log/simulated-figures.js'

const lives = { manager: 'a', child: 'a' }
const traffic = { perSecond: 100, phase: 1, hitShare: 0.9 }

function readAt(seconds: number) {
  const values = countTraffic(traffic, seconds)
  return { atMs: seconds * 1000, lives, isComplete: true, values }
}

function takeOf(served: ReadonlySet<string>, from: number, seconds: number) {
  const figures = new SimulatedFigures({ refresh: () => Promise.resolve(true), served })
  t.same([...figures.take(readAt(from))], [], 'a single reading yields no figures')
  return figures.take(readAt(from + seconds))
}

void t.test('domains add up to their groups, groups to the cache', (t) => {
  const names = fc.uniqueArray(fc.domain(), { minLength: 1, maxLength: 50 })
  const span = fc.record({ from: fc.nat({ max: 1000 }), seconds: fc.integer({ min: 1, max: 60 }) })
  fc.assert(
    fc.property(fc.array(names, { minLength: 1, maxLength: 5 }), span, (groups, span) => {
      const served = groups.flatMap((fqdns, at) => [
        `GROUP.${at + 1}`,
        ...fqdns.map((fqdn) => `DOMAIN.${at + 1}:${fqdn}`),
      ])
      const all = takeOf(new Set(served), span.from, span.seconds)
      const sum = (figure: string, prefix: string): number =>
        [...all]
          .filter(([name]) => name.startsWith(prefix) && name.endsWith(`.${figure}`))
          .reduce((total, [, value]) => total + value, 0)
      const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-6 * (1 + b)
      const counted = (name: string): number => {
        const [before, now] = [span.from, span.from + span.seconds].map((at) =>
          Number(countTraffic(traffic, at).get(name)),
        )
        return ((now ?? 0) - (before ?? 0)) / span.seconds
      }
      const ofStatus = [2, 3, 4, 5].map((digit) => sum(`status_${digit}xx`, 'GROUP.'))
      return (
        isNear(sum('requests', 'GROUP.'), counted('MAIN.client_req')) &&
        isNear(sum('hits', 'GROUP.'), counted('MAIN.cache_hit')) &&
        isNear(
          ofStatus.reduce((a, b) => a + b, 0),
          counted('MAIN.client_req'),
        ) &&
        groups.every((_, at) =>
          isNear(sum('requests', `DOMAIN.${at + 1}:`), all.get(`GROUP.${at + 1}.requests`) ?? 0),
        ) &&
        [...all.values()].every((value) => value >= 0)
      )
    }),
    { numRuns: 50 },
  )
  t.end()
})

void t.test('a root group gets all figures, a cache without a group none', (t) => {
  const ofRoot = takeOf(new Set(['GROUP.7']), 100, 10)
  const requests = Number(countTraffic(traffic, 110).get('MAIN.client_req'))
  const before = Number(countTraffic(traffic, 100).get('MAIN.client_req'))
  t.equal(ofRoot.get('GROUP.7.requests'), (requests - before) / 10)
  t.equal(takeOf(new Set(), 100, 10).size, 0)
  t.end()
})
