/** Properties of the archives for any samples, in any batches, with any clock. */
import fc from 'fast-check'
import t from 'tap'
import { spanOf, stepsPerRow } from '../../../src/coordinator/statistics/archive/archives.js'
import {
  addSample,
  createCacheState,
  readOpenRow,
  replayRow,
  type CacheState,
} from '../../../src/coordinator/statistics/archive/cache-archive.js'
import {
  decodeCheckpoint,
  encodeCheckpoint,
} from '../../../src/coordinator/statistics/archive/checkpoint.js'
import { consolidate } from '../../../src/coordinator/statistics/archive/consolidation.js'
import {
  decodeColumns,
  encodeColumns,
  readValue,
  type Row,
  type Value,
} from '../../../src/coordinator/statistics/archive/row.js'

const grid = { stepMs: 10_000, rows: 600, archives: 16 }
const series = 3
const epoch = Date.UTC(2026, 0, 1)

interface Sample {
  readonly at: number
  readonly values: Float64Array
}

const value = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: 0, max: 1e9, noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
)
const values = fc.tuple(value, value, value).map((numbers) => Float64Array.from(numbers))
/** Mostly an interval, sometimes a pause; the clock may be set. */
const forward = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 9_000, max: 11_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 90_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 90_000_000 }) },
)
const anyway = fc.oneof(
  { weight: 10, arbitrary: forward },
  { weight: 1, arbitrary: fc.integer({ min: -90_000_000, max: 0 }) },
)

/** A sample without a known value is not written: a restart forgets it. */
const partlyKnown = values.filter((numbers) => numbers.some((number) => !Number.isNaN(number)))

function samplesOf(passing: fc.Arbitrary<number>, numbers = values): fc.Arbitrary<Sample[]> {
  return fc.array(fc.tuple(passing, numbers), { minLength: 1, maxLength: 120 }).map((steps) => {
    let at = epoch
    return steps.map(([passedMs, numbers]) => ({ at: (at += passedMs), values: numbers }))
  })
}

function feed(state: CacheState, samples: readonly Sample[]): Row[] {
  return samples.flatMap(({ at, values }) => addSample(state, { at, spanMs: null, values }))
}

/** The row as it is stored and read again. */
function show(row: Row): unknown {
  const { archive, endsAt, spanMs, knownUntil } = row
  return { archive, endsAt, spanMs, knownUntil, bytes: Buffer.from(encodeColumns(row.columns)) }
}

function valuesOf(row: Row) {
  const bytes = encodeColumns(row.columns)
  return Array.from({ length: series }, (_, column) => readValue(bytes, column)).filter(
    (one) => one !== undefined,
  )
}

void t.test('rows lie on the grid and satisfy the laws of the functions', (t) => {
  fc.assert(
    fc.property(samplesOf(anyway), (samples) =>
      feed(createCacheState(grid, series), samples).every((row) => {
        const spanMs = spanOf(grid, row.archive)
        const isOnGrid = row.endsAt % spanMs === 0 && row.spanMs === spanMs
        const known = valuesOf(row)
        return (
          isOnGrid &&
          row.knownUntil >= row.endsAt &&
          known.length > 0 &&
          known.every((one) => isLawful(one, spanMs))
        )
      }),
    ),
  )
  t.end()
})

function isLawful(value: Value, spanMs: number): boolean {
  const { average, minimum, maximum, last, knownSeconds } = value
  return (
    minimum <= average &&
    average <= maximum &&
    minimum <= last &&
    last <= maximum &&
    knownSeconds > 0 &&
    knownSeconds <= Math.fround(spanMs / 1000) &&
    consolidate(value, 'TOTAL') === average * knownSeconds
  )
}

void t.test('a restart anywhere, with or without the newest checkpoint, changes no row', (t) => {
  const split = fc.tuple(samplesOf(forward, partlyKnown), fc.nat(), fc.nat())
  fc.assert(
    fc.property(split, ([samples, first, second]) => {
      const [early = 0, late = 0] = [first, second]
        .map((at) => at % (samples.length + 1))
        .sort((a, b) => a - b)
      const whole = createCacheState(grid, series)
      const rows = feed(whole, samples)

      const before = createCacheState(grid, series)
      const written = feed(before, samples.slice(0, early))
      const checkpoint = encodeCheckpoint(before)
      const atCheckpoint = readOpenRow(before)
      const since = feed(before, samples.slice(early, late))
      const open = readOpenRow(before)
      const after = decodeCheckpoint(grid, checkpoint)
      if (!after) return false
      // In the database a step's row is overwritten until it is complete.
      const steps = new Map<number, Row>()
      for (const row of [atCheckpoint, ...since, open])
        if (row?.archive === 0) steps.set(row.endsAt, row)
      for (const row of [...steps.values()].sort((a, b) => a.endsAt - b.endsAt))
        replayRow(after, { ...row, columns: decodeColumns(encodeColumns(row.columns)) })
      const rest = feed(after, samples.slice(late))

      return sameRows([...written, ...since, ...rest], rows)
    }),
  )
  t.end()
})

/** The step that was open at the restart was stored in single precision: its bits may differ in the last place. */
function sameRows(a: readonly Row[], b: readonly Row[]): boolean {
  if (a.length !== b.length) return false
  return a.every((row, at) => {
    const other = b[at]
    if (!other || row.archive !== other.archive || row.endsAt !== other.endsAt) return false
    const [ours, theirs] = [valuesOf(row), valuesOf(other)]
    return (
      ours.length === theirs.length &&
      ours.every((one, column) => {
        const same = theirs[column]
        return (
          same !== undefined && isNear(one.average, same.average) && isNear(one.last, same.last)
        )
      })
    )
  })
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b))
}

void t.test('samples that are split make the same rows', (t) => {
  const piece = fc.tuple(fc.integer({ min: 2, max: 60_000 }), values, fc.nat())
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 80 }), (samples) => {
      const [whole, cut] = [createCacheState(grid, series), createCacheState(grid, series)]
      const [rows, ofPieces]: [Row[], Row[]] = [[], []]
      let at = epoch
      for (const [spanMs, numbers, odd] of samples) {
        at += spanMs
        const firstMs = 1 + (odd % (spanMs - 1))
        const restMs = spanMs - firstMs
        rows.push(...addSample(whole, { at, spanMs, values: numbers }))
        ofPieces.push(
          ...addSample(cut, { at: at - restMs, spanMs: firstMs, values: numbers }),
          ...addSample(cut, { at, spanMs: restMs, values: numbers }),
        )
      }
      return sameRows(ofPieces, rows)
    }),
  )
  t.end()
})

void t.test('a repeated or slightly older sample changes nothing', (t) => {
  fc.assert(
    fc.property(samplesOf(forward), fc.nat({ max: 60_000 }), (samples, olderMs) => {
      const once = createCacheState(grid, series)
      const twice = createCacheState(grid, series)
      const rows = feed(once, samples)
      const again = samples.flatMap((sample) => [
        ...feed(twice, [sample]),
        ...feed(twice, [sample, { ...sample, at: sample.at - olderMs }]),
      ])
      return JSON.stringify(rows.map(show)) === JSON.stringify(again.map(show))
    }),
    { numRuns: 40 },
  )
  t.end()
})

void t.test('every archive has the same events, whatever the phase of the samples', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9_999 }),
      fc.double({ min: 0.001, max: 1e4, noNaN: true }),
      (phase, rate) => {
        const state = createCacheState(grid, 1)
        const totals = new Map<number, number>()
        let seconds = 0
        for (let at = epoch + phase; seconds < 4_000; at += 10_000, seconds += 10)
          for (const row of addSample(state, { at, spanMs: null, values: Float64Array.of(rate) })) {
            const found = readValue(encodeColumns(row.columns), 0)
            if (!found) return false
            totals.set(row.archive, (totals.get(row.archive) ?? 0) + consolidate(found, 'TOTAL'))
          }
        for (const [archive, total] of totals) {
          const unfinishedSeconds = spanOf(grid, archive) / 1000 + 20
          if (total > rate * 4_010 * 1.000_01 || total < rate * (3_980 - unfinishedSeconds))
            return false
        }
        return totals.size > 10
      },
    ),
    { numRuns: 30 },
  )
  t.end()
})

void t.test('unknown time is a gap: no row, or a row that was known for less time', (t) => {
  const state = createCacheState(grid, 2)
  const rows = feed(state, [
    { at: epoch, values: Float64Array.of(1, Number.NaN) },
    { at: epoch + 10_000, values: Float64Array.of(5, Number.NaN) },
    // 25 s without a sample: the sample covers only its own interval.
    { at: epoch + 35_000, values: Float64Array.of(7, 3) },
    { at: epoch + 40_000, values: Float64Array.of(7, Number.NaN) },
    { at: epoch + 60_000, values: Float64Array.of(7, 3) },
  ])

  const fine = rows.filter(({ archive, endsAt }) => archive === 0 && endsAt > epoch)
  t.same(
    fine.map(({ endsAt, columns }) => [(endsAt - epoch) / 1000, ...columns.knownSeconds]),
    [
      [10, 10, 0],
      [30, 5, 5],
      [40, 10, 5],
      [60, 10, 10],
    ],
  )
  const pair = rows.find(({ archive, endsAt }) => archive === 1 && endsAt === epoch + 40_000)
  t.equal(pair?.columns.knownSeconds[0], 15)
  t.equal(pair?.columns.last[1], 3)
  t.end()
})

void t.test('a late sample with its time span leaves no gap and loses no event', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 59_999 }), { minLength: 2 }), (pauses) => {
      const state = createCacheState(grid, 1)
      let at = epoch
      let events = 0
      addSample(state, { at, spanMs: null, values: Float64Array.of(0) })
      const rows = pauses.flatMap((spanMs, index) => {
        at += spanMs
        events += (index * spanMs) / 1000
        return addSample(state, { at, spanMs, values: Float64Array.of(index) })
      })
      const open = readOpenRow(state)
      const total = [...rows, ...(open ? [open] : [])]
        .filter(({ archive }) => archive === 0)
        .map((row) => readValue(encodeColumns(row.columns), 0))
        .reduce((sum, one) => sum + (one ? consolidate(one, 'TOTAL') : 0), 0)
      return Math.abs(total - events) <= 1e-4 * Math.max(1, events)
    }),
  )
  t.end()
})

void t.test('a clock set back by much begins anew, one set back by little is waited for', (t) => {
  const state = createCacheState(grid, 1)
  const at = (seconds: number) => ({ at: epoch + seconds * 1000, values: Float64Array.of(1) })
  feed(state, [at(0), at(10), at(20)])

  t.same(feed(state, [at(-20)]), [])
  t.equal(state.last, epoch + 20_000)
  t.ok(feed(state, [at(-3600), at(-3590)]).every(({ endsAt }) => endsAt <= epoch - 3590_000))
  t.equal(state.last, epoch - 3590_000)
  t.end()
})

void t.test('the spans are Fibonacci: 1, 2, 3, 5 to 1597', (t) => {
  t.same(stepsPerRow, [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597])
  t.end()
})
