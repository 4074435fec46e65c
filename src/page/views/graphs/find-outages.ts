/** When fewer caches were measured than before: from how many there were in each row. Values in, values out. */
import type { Point } from '../../charts/align-series.js'

export interface Outage {
  /** Seconds since 1970. */
  readonly from: number
  readonly to: number
  /** The fewest that were measured then, and how many there were before. */
  readonly measured: number
  readonly of: number
}

/** The newest ones. */
const outagesMost = 20
/** A row may come a little late: from here on one is missing. */
const gapFrom = 1.5

/** An outage ends when as many as before are measured again; one that goes on ends with the rows. */
export function findOutages(heard: readonly Point[]): readonly Outage[] {
  const found: Outage[] = []
  let level = 0
  let isOpen = false
  for (const { from, to, value } of coverTime(heard)) {
    if (value >= level) {
      level = value
      isOpen = false
      continue
    }
    const before = isOpen ? found.pop() : undefined
    const measured = Math.min(before?.measured ?? value, value)
    found.push({ from: before?.from ?? from, to, measured, of: level })
    isOpen = true
  }
  return found.slice(-outagesMost)
}

interface Covered {
  readonly from: number
  readonly to: number
  readonly value: number
}

/** The time of each row, and where there is none, of nothing. */
function coverTime(heard: readonly Point[]): readonly Covered[] {
  const step = shortestStep(heard)
  return heard.flatMap(({ time, value }, at) => {
    const before = heard[at - 1]?.time ?? time
    const row = { from: time - step, to: time, value }
    return time - before > step * gapFrom ? [{ from: before, to: row.from, value: 0 }, row] : [row]
  })
}

function shortestStep(points: readonly Point[]): number {
  return points.reduce(
    (least, { time }, at) => Math.min(least, time - (points[at - 1]?.time ?? -Infinity)),
    Infinity,
  )
}
