/** Converts the API's series to the columns of a chart: one shared row of times, with gaps preserved. Pure functions. */

export interface Point {
  /** End of the interval, in seconds since 1970. */
  readonly time: number
  readonly value: number
}

export interface Columns {
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  /** One column per series; null: unknown. */
  readonly values: readonly (readonly (number | null)[])[]
}

/** A row may be slightly late; from this multiple of the step on a row is missing. */
const gapFrom = 1.5

/** The API omits unknown values; without an empty row there the chart would draw a line across the gap. */
export function alignSeries(series: readonly (readonly Point[])[]): Columns {
  const known = new Set(series.flatMap((points) => points.map(({ time }) => time)))
  const times = markGaps([...known].sort((a, b) => a - b))
  const values = series.map((points) => {
    const byTime = new Map(points.map(({ time, value }) => [time, value]))
    return times.map((time) => byTime.get(time) ?? null)
  })
  return { times, values }
}

/** Rows are equidistant: the smallest distance is that of neighbours. */
function markGaps(times: readonly number[]): readonly number[] {
  const step = times.reduce(
    (least, time, at) => Math.min(least, time - (times[at - 1] ?? -Infinity)),
    Infinity,
  )
  return times.flatMap((time, at) => {
    const before = times[at - 1]
    return before !== undefined && time - before > step * gapFrom ? [before + step, time] : [time]
  })
}
