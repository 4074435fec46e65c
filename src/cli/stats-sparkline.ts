/** A series as one line of characters: its course at a glance, gaps as blanks. */

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

interface Point {
  readonly time: number
  readonly value: number
}

/** Of points of one place of the line the mean is drawn; the lowest bar is the least value, or zero where that is near. */
export function drawSparkline(points: readonly Point[], width: number): string {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return ''
  const seconds = Math.max(1, last.time - first.time)
  const places = Math.min(width, points.length)
  const sums = Array.from({ length: places }, () => ({ sum: 0, count: 0 }))
  for (const { time, value } of points) {
    const place = sums[Math.round(((time - first.time) / seconds) * (places - 1))]
    if (!place) continue
    place.sum += value
    place.count += 1
  }
  const means = sums.map(({ sum, count }) => (count === 0 ? null : sum / count))
  const known = means.filter((mean) => mean !== null)
  const most = Math.max(...known)
  const least = Math.min(...known)
  // A line that hardly moves shall look like one.
  const floor = least > most / 2 ? least - (most - least) : Math.min(0, least)
  return means.map((mean) => (mean === null ? ' ' : barOf(mean, floor, most))).join('')
}

function barOf(value: number, floor: number, most: number): string {
  const share = most === floor ? 0 : (value - floor) / (most - floor)
  return bars[Math.min(bars.length - 1, Math.floor(share * bars.length))] ?? ''
}
