/** Fair shares of common limits, and the message of a full quota. */
import fc from 'fast-check'
import t from 'tap'
import { describeFullQuota, hasFairRoom } from '../../src/resources/quota.js'

/** Plays requests one after the other; returns the amount held by each organization. */
function playRequests(
  total: number,
  requests: readonly (readonly [who: number, wanted: number])[],
) {
  const held = new Map<number, number>()
  let used = 0
  for (const [who, wanted] of requests) {
    const had = held.get(who) ?? 0
    if (!hasFairRoom({ total, used, held: had, wanted })) continue
    held.set(who, had + wanted)
    used += wanted
  }
  return { held, used }
}

const requests = fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 40 })), { maxLength: 200 })

void t.test('whatever one organization takes, another one can get its first objects', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 2_000 }),
      fc.array(fc.integer({ min: 1, max: 2_000 }), { maxLength: 300 }),
      (total, demands) => {
        const greedy = [...demands, ...Array.from({ length: total }, () => 1)]
        const { held, used } = playRequests(
          total,
          greedy.map((wanted) => [1, wanted] as const),
        )
        t.ok((held.get(1) ?? 0) <= total - Math.ceil(total / 10), 'it cannot take the last tenth')
        for (let first = 0; first < Math.floor(total / 20); first++)
          t.ok(hasFairRoom({ total, used: used + first, held: first, wanted: 1 }))
      },
    ),
  )
  t.end()
})

void t.test('the total is never exceeded, and single requests can fill it', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 400 }), requests, (total, asked) => {
      t.ok(playRequests(total, asked).used <= total)
      const many = Array.from({ length: total * 2 }, (_, n) => [n % 40, 1] as const)
      t.equal(playRequests(total, [...asked, ...many]).used, total)
    }),
  )
  t.ok(hasFairRoom({ total: 10, used: 10, held: 9, wanted: 0 }), 'a request for zero always fits')
  t.end()
})

void t.test('the message of a full quota names owner, number and remedy', (t) => {
  t.equal(
    describeFullQuota('shop', 'files', 2_000),
    'organization "shop" has its quota of 2,000 files; delete some, or ask the system administrator for more',
  )
  t.match(describeFullQuota('shop', 'invalidations', 5), /5 open invalidations; cancel some/)
  t.end()
})
