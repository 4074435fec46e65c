/** From the API's series to the columns of a chart: one row of times for all, gaps as gaps. Values in, values out. */

export interface Point {
  /** End of a row, seconds since 1970. */
  readonly time: number
  readonly value: number
}

export interface Columns {
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  /** One for each series; null: not known. */
  readonly values: readonly (readonly (number | null)[])[]
}

/** A row may come a little late: from here on one is missing. */
const gapFrom = 1.5

/** The API leaves out what it does not know; without a row of nothing there a chart would draw a line across. */
export function alignSeries(series: readonly (readonly Point[])[]): Columns {
  const known = new Set(series.flatMap((points) => points.map(({ time }) => time)))
  const times = markGaps([...known].sort((a, b) => a - b))
  const values = series.map((points) => {
    const byTime = new Map(points.map(({ time, value }) => [time, value]))
    return times.map((time) => byTime.get(time) ?? null)
  })
  return { times, values }
}

/** Rows lie at equal distances: the smallest is that of neighbours. */
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
