/** The step that samples are being added to: a sample covers the time from the previous sample to its own. */
import { makeColumns, type Columns } from './row.js'

export interface OpenStep {
  /** Counts steps since 1970. */
  readonly index: number
  readonly series: number
  /** Value times milliseconds per series, followed by the milliseconds per series in which it was known. */
  readonly numbers: Float64Array
}

/** `spent`: a step that is no longer needed; its memory is reused if it fits. */
export function openStep(index: number, series: number, spent: OpenStep | null = null): OpenStep {
  const numbers = spent?.series === series ? spent.numbers.fill(0) : new Float64Array(2 * series)
  return { index, series, numbers }
}

/** NaN: unknown. */
export function addToStep(
  { series, numbers }: OpenStep,
  values: Float64Array,
  forMs: number,
): void {
  for (let column = 0; column < values.length; column++) {
    const value = values[column] ?? Number.NaN
    if (Number.isNaN(value)) continue
    numbers[column] = (numbers[column] ?? 0) + value * forMs
    numbers[series + column] = (numbers[series + column] ?? 0) + forMs
  }
}

/** The step as a row of the finest archive; undefined if no value was known in it. */
export function closeStep({ series, numbers }: OpenStep): Columns | undefined {
  const columns = makeColumns(series)
  const { average, minimum, maximum, last, knownSeconds } = columns
  let isKnown = false
  for (let column = 0; column < series; column++) {
    const known = numbers[series + column] ?? 0
    if (known <= 0) continue
    isKnown = true
    const value = (numbers[column] ?? 0) / known
    average[column] = value
    minimum[column] = value
    maximum[column] = value
    last[column] = value
    knownSeconds[column] = known / 1000
  }
  return isKnown ? columns : undefined
}

/** Restores a step from the incomplete row that an earlier coordinator process wrote. */
export function reopenStep(index: number, { average, knownSeconds }: Columns): OpenStep {
  const step = openStep(index, average.length)
  for (let column = 0; column < average.length; column++) {
    const known = (knownSeconds[column] ?? 0) * 1000
    step.numbers[column] = (average[column] ?? 0) * known
    step.numbers[step.series + column] = known
  }
  return step
}

/** The same step with other series. `before`: the previous index of each series; -1: a new series. */
export function pickStep(
  { index, series, numbers }: OpenStep,
  before: readonly number[],
): OpenStep {
  const picked = openStep(index, before.length)
  for (const [column, was] of before.entries()) {
    if (was < 0) continue
    picked.numbers[column] = numbers[was] ?? 0
    picked.numbers[picked.series + column] = numbers[series + was] ?? 0
  }
  return picked
}
