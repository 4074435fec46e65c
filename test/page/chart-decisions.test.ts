/** What charts decide without a browser: stacks, comparisons, the mark at the pointer, times. */
import fc from 'fast-check'
import t from 'tap'
import { layOut, valueNear } from '../../src/page/charts/chart-data.js'
import { findMark, type ChartMark } from '../../src/page/charts/chart-mark.js'
import { formatMoment } from '../../src/page/charts/format-tick.js'
import { findOutages } from '../../src/page/views/graphs/find-outages.js'

const rows = fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 20 })
const columnsOf = (lines: number) =>
  rows.chain((places) =>
    fc.record({
      times: fc.constant(places.toSorted((a, b) => a - b)),
      values: fc.array(
        fc.array(fc.option(fc.nat(1_000)), { minLength: places.length, maxLength: places.length }),
        { minLength: lines, maxLength: lines },
      ),
    }),
  )

void t.test('a stack ends at the sum of its known values, and no line is below another', (t) => {
  fc.assert(
    fc.property(columnsOf(3), (columns) => {
      const { times, lines, values } = layOut({ columns, isStacked: true })
      return times.every((_, row) => {
        const known = values.flatMap((column) => column[row] ?? [])
        const drawn = lines.map((line) => line[row])
        if (known.length === 0) return drawn.every((value) => value == null)
        const sum = known.reduce((all, one) => all + one, 0)
        const ascends = drawn.every((value, at) => at === 0 || (value ?? 0) >= (drawn[at - 1] ?? 0))
        return drawn.at(-1) === sum && ascends
      })
    }),
  )
  t.end()
})

void t.test('a comparison keeps every value of both ranges at its time', (t) => {
  fc.assert(
    fc.property(columnsOf(2), columnsOf(2), (columns, before) => {
      const data = layOut({ columns, before })
      const isKept = (from: typeof columns, drawn: typeof data.values) =>
        from.values.every((column, at) =>
          data.times.every((time, row) => {
            const place = from.times.indexOf(time)
            return drawn[at]?.[row] === (place < 0 ? undefined : column[place])
          }),
        )
      const ascends = data.times.every((time, at) => at === 0 || time > (data.times[at - 1] ?? 0))
      return ascends && isKept(columns, data.values) && isKept(before, data.before)
    }),
  )
  const columns = {
    times: [10, 20],
    values: [
      [1, 2],
      [3, null],
    ],
  }
  t.same(layOut({ columns, before: columns, isStacked: true }).before, [[4, 2]], 'a stack’s sum')
  t.same(layOut({ columns }).before, [])
  t.end()
})

void t.test('between the rows of a line, the nearest value counts; gaps remain', (t) => {
  t.equal(valueNear([undefined, 5, undefined, undefined], 3), 5)
  t.equal(valueNear([undefined, null, undefined], 2), null)
  t.equal(valueNear([7, ...Array.from({ length: 9 }, () => undefined)], 9), undefined, 'too far')
  t.equal(valueNear(undefined, 0), undefined)
  t.end()
})

void t.test('the pointer finds the nearest mark within its range, instants before spans', (t) => {
  const moment = { at: 50, tone: 'change', text: 'a deploy' } as const
  const later = { at: 58, tone: 'removal', text: 'a ban' } as const
  const outage = { at: 20, until: 60, tone: 'outage', text: 'away' } as const
  const meet = (marks: readonly ChartMark[], pointer: number) =>
    findMark(marks, pointer, (seconds) => seconds * 2, 6)?.text ?? null
  t.equal(meet([outage, moment, later], 103), 'a deploy')
  t.equal(meet([outage, moment, later], 113), 'a ban')
  t.equal(meet([outage, moment, later], 70), 'away')
  t.equal(meet([moment, later], 70), null)
  fc.assert(
    fc.property(fc.array(fc.nat(100)), fc.nat(100), (places, pointer) => {
      const marks = places.map((at) => ({ at, tone: 'change' as const, text: String(at) }))
      const found = findMark(marks, pointer, (at) => at, 5)
      const distances = places.map((at) => Math.abs(at - pointer))
      const least = Math.min(Infinity, ...distances)
      return found === null ? least > 5 : Math.abs(found.at - pointer) === least
    }),
  )
  t.end()
})

void t.test('a time includes the date only if the range is longer than a day', (t) => {
  const noon = new Date(2026, 10, 24, 12, 5, 30).getTime() / 1000
  t.notMatch(formatMoment(noon, 86_400), /24/)
  t.match(formatMoment(noon, 86_400), /05.30/)
  t.match(formatMoment(noon, 86_401), /24/)
  t.end()
})

void t.test('an outage is a drop in the number of caches, until as many are back', (t) => {
  const heard = (...values: readonly (number | null)[]) =>
    values.flatMap((value, at) => (value === null ? [] : [{ time: at * 10, value }]))
  t.same(findOutages(heard(3, 3, 1, 2, 3, 3)), [{ from: 10, to: 30, measured: 1, of: 3 }])
  t.same(findOutages(heard(1, 1, null, null, 1)), [{ from: 10, to: 30, measured: 0, of: 1 }])
  t.same(findOutages(heard(2, 2, 1)), [{ from: 10, to: 20, measured: 1, of: 2 }], 'it continues')
  t.same(findOutages(heard(1, 1, 3, 3)), [], 'an increase is no outage')
  t.same(findOutages([]), [])
  const rows = fc.array(fc.option(fc.nat(4)), { minLength: 3, maxLength: 40 })
  fc.assert(
    fc.property(rows, (values) => {
      const points = heard(...values)
      const outages = findOutages(points)
      const most = Math.max(0, ...points.map(({ value }) => value))
      return outages.every(({ from, to, measured, of }, at) => {
        const isBehind = at === 0 || from >= (outages[at - 1]?.to ?? 0)
        const within = points.filter(({ time }) => time > from && time <= to)
        return (
          isBehind &&
          to > from &&
          measured < of &&
          of <= most &&
          within.every(({ value }) => value < of)
        )
      })
    }),
  )
  t.end()
})
