/**
 * The open rows of a cache as bytes, written from time to time. After a restart the later steps are folded again from the finest
 * archive; a coarse row takes hours, and the finest archive does not go back to its beginning.
 */
import type { Grid } from './archives.js'
import { createCacheState, type CacheState } from './cache-archive.js'
import { findRuns, readIndex, type OpenRows } from './fold.js'

const format = 1
/** format, step, series, last, folded. */
const headNumbers = 5
/** Sum, known time, minimum, maximum, last; each row has its index before them. */
const runsOfRow = 5
const bytesPerNumber = 8

/** Little-endian doubles: few are written, and single precision would change the sums. */
export function encodeCheckpoint({ grid, series, last, folded, open }: CacheState): Uint8Array {
  const length = headNumbers + open.rows * (1 + runsOfRow * series)
  const view = new DataView(new ArrayBuffer(length * bytesPerNumber))
  let at = 0
  const put = (number: number): void => {
    view.setFloat64(at++ * bytesPerNumber, number, true)
  }
  for (const number of [format, grid.stepMs, series, last ?? -1, folded]) put(number)
  for (let row = 0; row < open.rows; row++) {
    const runs = findRuns(open, row)
    put(readIndex(open, row))
    for (const from of [runs.sum, runs.known])
      for (let column = 0; column < series; column++) put(open.doubles[from + column] ?? 0)
    for (const from of [runs.minimum, runs.maximum, runs.last])
      for (let column = 0; column < series; column++) put(open.singles[from + column] ?? 0)
  }
  return new Uint8Array(view.buffer)
}

/**
 * Returns undefined if the sample interval or the format differs. Archives that were not kept at the time begin with empty
 * rows.
 */
export function decodeCheckpoint(grid: Grid, bytes: Uint8Array): CacheState | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.byteLength < headNumbers * bytesPerNumber) return undefined
  let at = 0
  const next = (): number => view.getFloat64(at++ * bytesPerNumber, true)
  const [wasFormat, stepMs, series, last, folded] = [next(), next(), next(), next(), next()]
  if (wasFormat !== format || stepMs !== grid.stepMs) return undefined
  const saved = (bytes.byteLength / bytesPerNumber - headNumbers) / (1 + runsOfRow * series)
  if (!Number.isInteger(saved)) return undefined
  const state = createCacheState(grid, series)
  state.last = last < 0 ? null : last
  state.folded = folded
  for (let row = 0; row < Math.min(saved, state.open.rows); row++) readRow(state.open, row, next)
  return state
}

function readRow(open: OpenRows, row: number, next: () => number): void {
  const { series, doubles, singles } = open
  const runs = findRuns(open, row)
  doubles[row] = next()
  for (const from of [runs.sum, runs.known])
    for (let column = 0; column < series; column++) doubles[from + column] = next()
  for (const from of [runs.minimum, runs.maximum])
    for (let column = 0; column < series; column++) singles[from + column] = next()
  // The newest value is the same in all rows that know the series.
  for (let column = 0; column < series; column++) {
    const newest = next()
    if ((doubles[runs.known + column] ?? 0) > 0) singles[runs.last + column] = newest
  }
}
