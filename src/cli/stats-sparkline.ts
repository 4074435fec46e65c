/** Draws a series as one line of characters; gaps are blanks. */

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

interface Point {
  readonly time: number
  readonly value: number
}

/** The time range of a line, from left to right; lines with the same axis can be compared place by place. */
export interface Axis {
  readonly from: number
  readonly to: number
  /** The shortest distance between two points. */
  readonly step: number
  /** Number of characters. */
  readonly places: number
}

/** The axis shared by all series that are drawn together. */
export function findAxis(series: readonly (readonly Point[])[], width: number): Axis {
  const all = new Set(series.flatMap((points) => points.map(({ time }) => time)))
  const times = [...all].sort((a, b) => a - b)
  const [from = 0, to = 0] = [times[0], times.at(-1)]
  const steps = times.slice(1).map((time, before) => time - (times[before] ?? 0))
  return { from, to, step: Math.min(...steps), places: Math.min(width, times.length) }
}

/** Each place shows the mean of its points. The lowest bar is the minimum, or zero if that is near. */
export function drawSparkline(points: readonly Point[], { from, to, places }: Axis): string {
  if (points.length === 0) return ''
  const seconds = Math.max(1, to - from)
  const sums = Array.from({ length: places }, () => ({ sum: 0, count: 0 }))
  for (const { time, value } of points) {
    const place = sums[Math.round(((time - from) / seconds) * (places - 1))]
    if (!place) continue
    place.sum += value
    place.count += 1
  }
  const means = sums.map(({ sum, count }) => (count === 0 ? null : sum / count))
  const known = means.filter((mean) => mean !== null)
  const most = Math.max(...known)
  const least = Math.min(...known)
  // A nearly constant series should look constant.
  const floor = least > most / 2 ? least - (most - least) : Math.min(0, least)
  return means.map((mean) => (mean === null ? ' ' : barOf(mean, floor, most))).join('')
}

function barOf(value: number, floor: number, most: number): string {
  const share = most === floor ? 0 : (value - floor) / (most - floor)
  return bars[Math.min(bars.length - 1, Math.floor(share * bars.length))] ?? ''
}
