/** Builds the SVG path of a line without axes. Pure functions. */

export interface Point {
  /** Seconds since 1970. */
  readonly time: number
  readonly value: number
}

interface Frame {
  readonly from: number
  readonly to: number
  readonly width: number
  readonly height: number
}

/** This many seconds between two points are a gap. */
const gapSeconds = 130

/** Scales from zero at the bottom to the highest point at the top. Empty: nothing to draw. */
export function drawLine(points: readonly Point[], { from, to, width, height }: Frame): string {
  const shown = points.filter(({ time }) => time >= from && time <= to)
  const most = shown.reduce((highest, { value }) => Math.max(highest, value), 0)
  const x = (time: number): string => (((time - from) / (to - from)) * width).toFixed(1)
  const y = (value: number): string =>
    (most > 0 ? height - (value / most) * height : height).toFixed(1)
  let before: Point | undefined
  let path = ''
  for (const point of shown) {
    const isGap = !before || point.time - before.time > gapSeconds
    path += `${isGap ? 'M' : 'L'}${x(point.time)} ${y(point.value)}`
    before = point
  }
  return path
}
