/** When work that is done once an hour is due. */
import fc from 'fast-check'
import t from 'tap'
import { msToNextPass } from '../../src/coordinator/hourly.js'

/** From 1971 on. */
const moments = fc.integer({ min: 31_536_000_000, max: 8_640_000_000_000 })

void t.test('the next pass is at the seventh minute, within an hour', (t) => {
  fc.assert(
    fc.property(moments, (nowAt) => {
      const waitMs = msToNextPass(nowAt)
      const dueAt = new Date(nowAt + waitMs)
      t.ok(waitMs > 0 && waitMs <= 3_600_000, `${waitMs} ms`)
      t.match(dueAt.toISOString(), /:07:00\.000Z$/)
    }),
    { numRuns: 100 },
  )
  t.end()
})
