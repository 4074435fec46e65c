/**
 * Folding steps into the rows of the coarser archives. Steps are folded as they are kept, in single precision: who reads them
 * again from the finest archive gets the same rows.
 */
import { makeColumns, type Columns } from './row.js'

/** An archive's row in the making. */
export interface OpenRow {
  /** Counts rows of its archive since 1970; -1: none is open. */
  index: number
  /** Value times seconds, and seconds; for each series. */
  sum: Float64Array
  known: Float64Array
  minimum: Float32Array
  maximum: Float32Array
  last: Float32Array
}

export function makeOpenRow(series: number): OpenRow {
  return {
    index: -1,
    sum: new Float64Array(series),
    known: new Float64Array(series),
    minimum: new Float32Array(series),
    maximum: new Float32Array(series),
    last: new Float32Array(series),
  }
}

export function foldStep(row: OpenRow, step: Columns): void {
  const { sum, known, minimum, maximum, last } = row
  for (let column = 0; column < step.average.length; column++) {
    const seconds = numberAt(step.knownSeconds, column)
    if (seconds <= 0) continue
    const value = numberAt(step.average, column)
    const before = numberAt(known, column)
    if (before === 0 || value < numberAt(minimum, column)) minimum[column] = value
    if (before === 0 || value > numberAt(maximum, column)) maximum[column] = value
    last[column] = value
    sum[column] = numberAt(sum, column) + value * seconds
    known[column] = before + seconds
  }
}

/** The finished row, and an empty one in its place; undefined when nothing was known in it. */
export function closeRow(row: OpenRow): Columns | undefined {
  const { sum, known, minimum, maximum, last } = row
  const columns = makeColumns(sum.length)
  let isKnown = false
  for (let column = 0; column < sum.length; column++) {
    const seconds = numberAt(known, column)
    if (seconds <= 0) continue
    isKnown = true
    const low = numberAt(minimum, column)
    const high = numberAt(maximum, column)
    columns.average[column] = clamp(numberAt(sum, column) / seconds, low, high)
    columns.minimum[column] = low
    columns.maximum[column] = high
    columns.last[column] = numberAt(last, column)
    columns.knownSeconds[column] = seconds
  }
  clearRow(row)
  return isKnown ? columns : undefined
}

export function clearRow(row: OpenRow): void {
  row.index = -1
  row.sum.fill(0)
  row.known.fill(0)
}

/** The sum of many equal values may differ from them in its last bit. */
function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

function numberAt(run: Float32Array | Float64Array, column: number): number {
  return run[column] ?? 0
}
