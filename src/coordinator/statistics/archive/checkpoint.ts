/**
 * The open rows of a cache as bytes, written now and then: a coarse row takes hours, and the finest archive, from which the
 * steps since are folded again, does not reach back to its beginning.
 */
import type { Grid } from './archives.js'
import { createCacheState, type CacheState } from './cache-archive.js'

const format = 1
/** format, step, series, last, folded. */
const headNumbers = 5
const bytesPerNumber = 8

/** Little-endian doubles: not many are written, and single precision would change the sums. */
export function encodeCheckpoint({ grid, series, last, folded, open }: CacheState): Uint8Array {
  const numbers = [format, grid.stepMs, series, last ?? -1, folded]
  for (const { index, sum, known, minimum, maximum, last } of open)
    numbers.push(index, ...sum, ...known, ...minimum, ...maximum, ...last)
  const view = new DataView(new ArrayBuffer(numbers.length * bytesPerNumber))
  for (const [at, number] of numbers.entries()) view.setFloat64(at * bytesPerNumber, number, true)
  return new Uint8Array(view.buffer)
}

/**
 * Undefined when it is of another interval between samples, or of another form. Of archives that were not kept then the rows
 * begin now.
 */
export function decodeCheckpoint(grid: Grid, bytes: Uint8Array): CacheState | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.byteLength < headNumbers * bytesPerNumber) return undefined
  let at = 0
  const next = (): number => view.getFloat64(at++ * bytesPerNumber, true)
  const [wasFormat, stepMs, series, last, folded] = [next(), next(), next(), next(), next()]
  if (wasFormat !== format || stepMs !== grid.stepMs) return undefined
  const saved = (bytes.byteLength / bytesPerNumber - headNumbers) / (1 + 5 * series)
  if (!Number.isInteger(saved)) return undefined
  const state = createCacheState(grid, series)
  state.last = last < 0 ? null : last
  state.folded = folded
  for (const row of state.open.slice(0, saved)) {
    row.index = next()
    for (const run of [row.sum, row.known, row.minimum, row.maximum, row.last])
      for (let column = 0; column < series; column++) run[column] = next()
  }
  return state
}
