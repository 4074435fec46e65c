/** The step that samples are falling into: a sample's values hold from the one before it to its own time. */
import { makeColumns, type Columns } from './row.js'

export interface OpenStep {
  /** Counts steps since 1970. */
  readonly index: number
  /** Value times milliseconds, and the milliseconds in which it was known; for each series. */
  sum: Float64Array
  knownMs: Float64Array
}

export function openStep(index: number, series: number): OpenStep {
  return { index, sum: new Float64Array(series), knownMs: new Float64Array(series) }
}

/** NaN: not known. */
export function addToStep(step: OpenStep, values: Float64Array, forMs: number): void {
  for (let column = 0; column < values.length; column++) {
    const value = values[column] ?? Number.NaN
    if (Number.isNaN(value)) continue
    step.sum[column] = (step.sum[column] ?? 0) + value * forMs
    step.knownMs[column] = (step.knownMs[column] ?? 0) + forMs
  }
}

/** The step as a row of the finest archive; undefined when nothing was known in it. */
export function closeStep({ sum, knownMs }: OpenStep): Columns | undefined {
  const columns = makeColumns(sum.length)
  let isKnown = false
  for (let column = 0; column < sum.length; column++) {
    const known = knownMs[column] ?? 0
    if (known <= 0) continue
    isKnown = true
    const average = (sum[column] ?? 0) / known
    columns.average[column] = average
    columns.minimum[column] = average
    columns.maximum[column] = average
    columns.last[column] = average
    columns.knownSeconds[column] = known / 1000
  }
  return isKnown ? columns : undefined
}

/** What a coordinator before this one had of it. */
export function reopenStep(index: number, { average, knownSeconds }: Columns): OpenStep {
  const step = openStep(index, average.length)
  for (let column = 0; column < average.length; column++) {
    const known = (knownSeconds[column] ?? 0) * 1000
    step.knownMs[column] = known
    step.sum[column] = (average[column] ?? 0) * known
  }
  return step
}
