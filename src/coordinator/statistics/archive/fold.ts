/**
 * Folding steps into the rows of the coarser archives. Steps are folded in single precision, as they are stored, so that
 * folding them again from the finest archive gives the same rows.
 */
import { makeColumns, type Columns } from './row.js'

/**
 * A cache's open rows, one per archive from the second on, in one buffer: as separate objects they would take three times as
 * much memory.
 */
export interface OpenRows {
  readonly rows: number
  readonly series: number
  /**
   * First the index of the open row of each archive, counted since 1970; -1: none. Then for each row the sums of value times
   * seconds, and the seconds, one number per series.
   */
  readonly doubles: Float64Array
  /** For each row the minima and the maxima, one number per series; then the newest values, which all rows share. */
  readonly singles: Float32Array
}

export function makeOpenRows(rows: number, series: number): OpenRows {
  const doubles = rows + rows * 2 * series
  const singles = rows * 2 * series + series
  const buffer = new ArrayBuffer(
    doubles * Float64Array.BYTES_PER_ELEMENT + singles * Float32Array.BYTES_PER_ELEMENT,
  )
  const open: OpenRows = {
    rows,
    series,
    doubles: new Float64Array(buffer, 0, doubles),
    singles: new Float32Array(buffer, doubles * Float64Array.BYTES_PER_ELEMENT),
  }
  open.doubles.fill(-1, 0, rows)
  return open
}

/** -1: none is open. */
export function readIndex({ doubles }: OpenRows, row: number): number {
  return numberAt(doubles, row)
}

/** The offsets of a row's runs of `series` numbers each. */
interface RunsOfRow {
  /** In `doubles`. */
  readonly sum: number
  readonly known: number
  /** In `singles`. */
  readonly minimum: number
  readonly maximum: number
  readonly last: number
}

export function findRuns({ rows, series }: OpenRows, row: number): RunsOfRow {
  const sum = rows + row * 2 * series
  const minimum = row * 2 * series
  return {
    sum,
    known: sum + series,
    minimum,
    maximum: minimum + series,
    last: rows * 2 * series,
  }
}

/** `index`: the index of the row that contains the step. */
export function foldStep(open: OpenRows, row: number, index: number, step: Columns): void {
  const { doubles, singles } = open
  const { average, knownSeconds } = step
  const runs = findRuns(open, row)
  doubles[row] = index
  for (let column = 0; column < average.length; column++) {
    const seconds = numberAt(knownSeconds, column)
    if (seconds <= 0) continue
    const value = numberAt(average, column)
    const before = numberAt(doubles, runs.known + column)
    if (before === 0 || value < numberAt(singles, runs.minimum + column))
      singles[runs.minimum + column] = value
    if (before === 0 || value > numberAt(singles, runs.maximum + column))
      singles[runs.maximum + column] = value
    // A row that knows a series contains all steps up to the newest.
    singles[runs.last + column] = value
    doubles[runs.sum + column] = numberAt(doubles, runs.sum + column) + value * seconds
    doubles[runs.known + column] = before + seconds
  }
}

/** Returns the finished row and clears it; undefined if no value was known in it. */
export function closeRow(open: OpenRows, row: number): Columns | undefined {
  const { series, doubles, singles } = open
  const runs = findRuns(open, row)
  const columns = makeColumns(series)
  const { average, minimum, maximum, last, knownSeconds } = columns
  let isKnown = false
  for (let column = 0; column < series; column++) {
    const seconds = numberAt(doubles, runs.known + column)
    if (seconds <= 0) continue
    isKnown = true
    const low = numberAt(singles, runs.minimum + column)
    const high = numberAt(singles, runs.maximum + column)
    average[column] = clamp(numberAt(doubles, runs.sum + column) / seconds, low, high)
    minimum[column] = low
    maximum[column] = high
    last[column] = numberAt(singles, runs.last + column)
    knownSeconds[column] = seconds
  }
  clearRow(open, row)
  return isKnown ? columns : undefined
}

export function clearRow(open: OpenRows, row: number): void {
  const { series, doubles } = open
  doubles[row] = -1
  const { sum } = findRuns(open, row)
  doubles.fill(0, sum, sum + 2 * series)
}

/** The same rows with other series. `before`: the previous index of each series; -1: a new series. */
export function pickSeries(open: OpenRows, before: readonly number[]): OpenRows {
  const picked = makeOpenRows(open.rows, before.length)
  picked.doubles.set(open.doubles.subarray(0, open.rows))
  for (let row = 0; row < open.rows; row++) {
    const [from, to] = [findRuns(open, row), findRuns(picked, row)]
    for (const [column, was] of before.entries()) {
      if (was < 0) continue
      picked.doubles[to.sum + column] = numberAt(open.doubles, from.sum + was)
      picked.doubles[to.known + column] = numberAt(open.doubles, from.known + was)
      picked.singles[to.minimum + column] = numberAt(open.singles, from.minimum + was)
      picked.singles[to.maximum + column] = numberAt(open.singles, from.maximum + was)
      picked.singles[to.last + column] = numberAt(open.singles, from.last + was)
    }
  }
  return picked
}

/** The sum of many equal values may differ from them in its last bit. */
function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

function numberAt(run: Float32Array | Float64Array, at: number): number {
  return run[at] ?? 0
}
