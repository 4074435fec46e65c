/** What a license allows for any time, number of caches and kind of license. */
import fc from 'fast-check'
import t from 'tap'
import {
  allowsConsole,
  describeLicenseState,
  judgeLicense,
  readLicense,
  type License,
} from '../../../src/coordinator/console/read-license.js'

const dayMs = 24 * 3600 * 1000
const licenses: fc.Arbitrary<License> = fc.record({
  name: fc.constant('example'),
  expires: fc.integer({ min: 0, max: 4_000_000_000 }),
  graceDays: fc.integer({ min: 0, max: 3_650 }),
  maxCaches: fc.integer({ min: 0, max: 100_000 }),
})
const moments = fc.integer({ min: 0, max: 5_000_000_000_000 })
const counts = fc.integer({ min: 0, max: 200_000 })
/** Ordered pairs, the smaller number first. */
const pairsOf = (numbers: fc.Arbitrary<number>) =>
  fc.tuple(numbers, numbers).map(([a, b]): [number, number] => (a < b ? [a, b] : [b, a]))

void t.test('everything is allowed without a key, nothing without a license', (t) => {
  fc.assert(
    fc.property(licenses, counts, moments, (license, caches, nowMs) => {
      const facts = { caches, nowMs }
      t.same(judgeLicense({ isChecked: false, license, ...facts }), { kind: 'off' })
      t.same(judgeLicense({ isChecked: true, license: null, ...facts }), { kind: 'missing' })
    }),
  )
  t.end()
})

void t.test('a license is valid until it expires, then in grace, then expired', (t) => {
  fc.assert(
    fc.property(licenses, moments, (license, nowMs) => {
      const state = judgeLicense({ isChecked: true, license, caches: 0, nowMs })
      const expiresMs = license.expires * 1000
      const endMs = expiresMs + license.graceDays * dayMs
      const kind = nowMs >= endMs ? 'expired' : nowMs < expiresMs ? 'valid' : 'grace'
      t.equal(state.kind, kind)
      t.equal(allowsConsole(state), nowMs < endMs)
      if (state.kind !== 'grace') return
      t.ok(state.daysLeft >= 1 && state.daysLeft <= license.graceDays)
      t.ok(nowMs + state.daysLeft * dayMs >= endMs && nowMs + (state.daysLeft - 1) * dayMs < endMs)
    }),
  )
  t.end()
})

void t.test('neither more caches nor later times ever allow more', (t) => {
  fc.assert(
    fc.property(licenses, pairsOf(counts), pairsOf(moments), (license, [few, many], times) => {
      const judge = (caches: number, nowMs: number) =>
        judgeLicense({ isChecked: true, license, caches, nowMs })
      const [before, after] = times
      if (allowsConsole(judge(many, before))) t.ok(allowsConsole(judge(few, before)))
      if (allowsConsole(judge(few, after))) t.ok(allowsConsole(judge(few, before)))
      const isOver = judge(few, after).kind === 'expired'
      t.equal(judge(many, after).kind === 'too many caches', !isOver && many > license.maxCaches)
      if (!allowsConsole(judge(many, after)))
        t.match(describeLicenseState(judge(many, after)), /upload/, 'it asks for an upload')
    }),
  )
  t.end()
})

void t.test('a signed payload must have valid license fields', (t) => {
  const right = { name: 'example', expires: 1, graceDays: 2, maxCaches: 3 }
  t.same(readLicense({ ...right, more: true }), right)
  for (const [key, values] of Object.entries({
    name: [undefined, '', 7, 'a\nb', 'x'.repeat(256)],
    expires: [undefined, -1, 1.5, '1', 1e300, null],
    graceDays: [undefined, -1, 0.5, 3_651, '2'],
    maxCaches: [undefined, -1, 2.5, null, '3'],
  }))
    for (const value of values)
      t.match(readLicense({ ...right, [key]: value }), new RegExp(`^${key} (must be|is missing)`))
  for (const nothing of [null, 'x', 7, []]) t.type(readLicense(nothing), 'string')
  t.end()
})
