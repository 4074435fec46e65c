/** Finds times when fewer caches were measured than before, from the number of caches in each row. Pure functions. */
import type { Point } from '../../charts/align-series.js'

export interface Outage {
  /** Seconds since 1970. */
  readonly from: number
  readonly to: number
  /** The lowest number of caches measured, and the number before. */
  readonly measured: number
  readonly of: number
}

/** The newest outages are kept. */
const maxOutages = 20
/** Rows may be slightly late; from this multiple of the step on, a row is missing. */
const gapFrom = 1.5

/** An outage ends when as many caches as before are measured again; an ongoing one ends with the last row. */
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
  return found.slice(-maxOutages)
}

interface Covered {
  readonly from: number
  readonly to: number
  readonly value: number
}

/** Covers the time of each row, and each gap with a count of zero. */
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
