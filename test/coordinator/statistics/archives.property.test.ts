/** Which archive is read, and where its rows are: checked against the rows themselves. */
import fc from 'fast-check'
import t from 'tap'
import {
  chooseArchive,
  slotOf,
  slotRanges,
  spanOf,
  type Grid,
} from '../../../src/coordinator/statistics/archive/archives.js'

const nowMs = Date.UTC(2026, 0, 1)
const longestMs = 2 * 366 * 86_400_000

const grids = fc.record({
  stepMs: fc.integer({ min: 1, max: 60 }).map((seconds) => seconds * 1000),
  rows: fc.integer({ min: 2, max: 600 }),
  archives: fc.integer({ min: 1, max: 16 }),
})
const ranges = fc
  .tuple(fc.integer({ min: -longestMs, max: 60_000 }), fc.nat({ max: longestMs }))
  .map(([begins, lasts]) => ({ startMs: nowMs + begins, endMs: nowMs + begins + lasts }))

void t.test('the finest archive that still has all of a range is read, else the coarsest', (t) => {
  fc.assert(
    fc.property(grids, ranges, fc.integer({ min: 1, max: 600 }), (grid, range, maxRows) => {
      const chosen = chooseArchive(grid, { ...range, nowMs }, maxRows)
      const isShortEnough = (archive: number): boolean =>
        (range.endMs - range.startMs) / spanOf(grid, archive) <= maxRows
      const hasAll = (archive: number): boolean => {
        const span = spanOf(grid, archive)
        // The row that is open now has a slot, too.
        return range.startMs >= (Math.floor(nowMs / span) - grid.rows + 1) * span
      }
      for (let finer = 0; finer < chosen; finer++) {
        const passedMs = nowMs - range.startMs
        const isSure = passedMs <= (grid.rows - 1) * spanOf(grid, finer)
        if (isSure && isShortEnough(finer)) return false
      }
      return (hasAll(chosen) && isShortEnough(chosen)) || chosen === grid.archives - 1
    }),
  )
  t.end()
})

void t.test('the slots of a range are those of the rows that end in it', (t) => {
  const some = fc.tuple(grids, fc.nat({ max: 15 }), fc.nat(5_000), fc.nat(700), fc.nat(60_000))
  fc.assert(
    fc.property(some, ([grid, archive, begins, lasts, odd]) => {
      const span = spanOf(grid, archive)
      const startMs = nowMs + begins * span - odd
      const range = { startMs, endMs: startMs + lasts * span }
      const wanted = new Set<number>()
      const first = Math.ceil(range.startMs / span) * span
      for (let endsAt = first; endsAt <= range.endMs; endsAt += span)
        wanted.add(slotOf(grid, archive, endsAt))
      const found = listSlots(grid, archive, range)
      return found.length === wanted.size && found.every((slot) => wanted.has(slot))
    }),
  )
  t.end()
})

function listSlots(
  grid: Grid,
  archive: number,
  range: { readonly startMs: number; readonly endMs: number },
): readonly number[] {
  return slotRanges(grid, archive, range).flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, at) => from + at),
  )
}
