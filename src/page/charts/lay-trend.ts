/** Layout of a small chart without axes: a line, the area below it, and marks. Pure functions. */
import type { ChartMark } from './chart-mark.js'

export interface TrendPoint {
  /** Seconds since 1970. */
  readonly time: number
  /** Null: unknown. */
  readonly value: number | null
}

export interface TrendRange {
  /** Seconds since 1970. */
  readonly from: number
  readonly to: number
}

/** Size of the drawing; the page stretches it. */
export const trendWidth = 600
export const trendHeight = 100
/** Keeps the line fully visible at its extremes. */
const margin = 3

interface TrendShape {
  /** SVG paths: one per run of known points. */
  readonly lines: readonly string[]
  readonly grounds: readonly string[]
}

/** The vertical scale runs from 0 to `most`. */
export function layTrend(
  points: readonly TrendPoint[],
  range: TrendRange,
  most: number,
): TrendShape {
  const runs = findRuns(points).map((run) =>
    run.map(({ time, value }) => `${placeOf(time, range)} ${heightOf(value, most)}`),
  )
  return {
    lines: runs.map((places) => `M${places.join('L')}`),
    grounds: runs.map((places) => {
      const [first = '', last = ''] = [places[0], places.at(-1)]
      const [start = '', end = ''] = [first.split(' ')[0], last.split(' ')[0]]
      return `M${start} ${trendHeight}L${places.join('L')}L${end} ${trendHeight}Z`
    }),
  }
}

/** Distance from the left. */
export function placeOf(time: number, { from, to }: TrendRange): number {
  return round(((time - from) / Math.max(1, to - from)) * trendWidth)
}

/** Distance from the top. */
export function heightOf(value: number, most: number): number {
  const share = most > 0 ? Math.min(1, value / most) : 0
  return round(trendHeight - margin - share * (trendHeight - 2 * margin))
}

/** Returns the nearest known point; null: there is none. */
export function findNearest(
  points: readonly TrendPoint[],
  time: number,
): (TrendPoint & { readonly value: number }) | null {
  const known = points.filter(isKnown)
  return known.reduce<(TrendPoint & { readonly value: number }) | null>(
    (nearest, point) =>
      nearest && Math.abs(nearest.time - time) <= Math.abs(point.time - time) ? nearest : point,
    null,
  )
}

/** Returns the marks within the range; a period is clipped to it. */
export function marksWithin(
  marks: readonly ChartMark[],
  { from, to }: TrendRange,
): readonly ChartMark[] {
  return marks
    .filter(({ at, until }) => (until ?? at) >= from && at <= to)
    .map((mark) =>
      mark.until === undefined
        ? mark
        : { ...mark, at: Math.max(from, mark.at), until: Math.min(to, mark.until) },
    )
}

/** Splits the points into runs without gaps. */
function findRuns(points: readonly TrendPoint[]): (TrendPoint & { readonly value: number })[][] {
  const runs: (TrendPoint & { readonly value: number })[][] = []
  let run: (typeof runs)[number] = []
  for (const point of points) {
    if (isKnown(point)) run.push(point)
    else run = []
    if (run.length === 1) runs.push(run)
  }
  return runs
}

function isKnown(point: TrendPoint): point is TrendPoint & { readonly value: number } {
  return point.value !== null
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
