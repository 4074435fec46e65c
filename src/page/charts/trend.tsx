/** A small chart without axes; reports the value and the mark at the pointer. */
import { useMemo } from 'preact/hooks'
import { findMark, type ChartMark } from './chart-mark.js'
import {
  findNearest,
  layTrend,
  marksWithin,
  placeOf,
  trendHeight,
  trendWidth,
  type TrendPoint,
  type TrendRange,
} from './lay-trend.js'

interface TrendProps {
  /** Accessible name of the chart. */
  readonly label: string
  readonly points: readonly TrendPoint[]
  readonly range: TrendRange
  /** Value at the top. */
  readonly most: number
  readonly colour: string
  readonly marks: readonly ChartMark[]
  /** Null: the pointer left. */
  readonly onPoint: (pointed: PointedTrend | null) => void
}

export interface PointedTrend {
  readonly time: number
  readonly value: number
  readonly mark: ChartMark | null
}

/** In units of the width: distance within which the pointer hits a mark. */
const reach = 8

export function Trend({ label, points, range, most, colour, marks, onPoint }: TrendProps) {
  const shape = useMemo(() => layTrend(points, range, most), [points, range.from, range.to, most])
  const seen = useMemo(() => marksWithin(marks, range), [marks, range.from, range.to])
  const place = (seconds: number): number => placeOf(seconds, range)
  const point = (event: PointerEvent & { readonly currentTarget: Element }): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const at = ((event.clientX - left) / Math.max(1, width)) * trendWidth
    const time = range.from + (at / trendWidth) * (range.to - range.from)
    const nearest = findNearest(points, time)
    onPoint(nearest && { ...nearest, mark: findMark(seen, at, place, reach) })
  }
  return (
    <svg
      class="trend"
      style={{ color: colour }}
      viewBox={`0 0 ${trendWidth} ${trendHeight}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      onPointerMove={point}
      onPointerLeave={() => {
        onPoint(null)
      }}
    >
      {seen.map(
        ({ at, until, tone }) =>
          until !== undefined && (
            <rect
              key={`${at} ${until}`}
              class={`trend-while trend-${tone}`}
              x={place(at)}
              width={Math.max(2, place(until) - place(at))}
              height={trendHeight}
            />
          ),
      )}
      {shape.grounds.map((path) => (
        <path key={path} class="trend-ground" d={path} />
      ))}
      {shape.lines.map((path) => (
        <path key={path} class="trend-line" d={path} />
      ))}
      {seen.map(
        ({ at, until, tone, text }) =>
          until === undefined && (
            <path
              key={`${at} ${text}`}
              class={`trend-mark trend-${tone}`}
              d={`M${place(at)} 0V${trendHeight}`}
            />
          ),
      )}
    </svg>
  )
}
