/** From an overview to its three small charts, and the marks in them. Values in, values out. */
import type { Mark } from '../../../resources/mark.js'
import type { Figures, Overview } from '../../../resources/overview.js'
import type { ChartMark } from '../../charts/chart-mark.js'
import type { TrendPoint } from '../../charts/lay-trend.js'
import type { Unit } from '../../charts/format-value.js'
import { describeMark } from '../graphs/describe-marks.js'

export type FigureName = 'requests' | 'hitRatio' | 'failedFetches' | 'errors'

export interface TrendKind {
  readonly name: FigureName
  readonly title: string
  readonly unit: Unit
  readonly colour: string
  /** More of it is: */
  readonly isMore: 'good' | 'bad' | 'neutral'
}

export const trendKinds: readonly TrendKind[] = [
  {
    ...{ name: 'requests', title: 'Requests', unit: 'rate' },
    ...{ colour: 'var(--line-1)', isMore: 'neutral' },
  },
  {
    ...{ name: 'hitRatio', title: 'Hit ratio', unit: 'share' },
    ...{ colour: 'var(--line-3)', isMore: 'good' },
  },
  {
    ...{ name: 'failedFetches', title: 'Failed fetches', unit: 'rate' },
    ...{ colour: 'var(--bad-ink)', isMore: 'bad' },
  },
  {
    ...{ name: 'errors', title: 'Errors (5xx)', unit: 'rate' },
    ...{ colour: 'var(--bad-ink)', isMore: 'bad' },
  },
]

/** Steps are at equal distances: a longer one is a gap. */
const gapFrom = 1.5

export function readTrend(
  lastHour: NonNullable<Overview['lastHour']>,
  name: FigureName,
): readonly TrendPoint[] {
  const points = lastHour.map((step) => ({ time: Date.parse(step.time) / 1000, value: step[name] }))
  const step = points.reduce(
    (least, { time }, at) => Math.min(least, time - (points[at - 1]?.time ?? -Infinity)),
    Infinity,
  )
  return points.flatMap((point, at) => {
    const before = points[at - 1]
    const isGap = before !== undefined && point.time - before.time > step * gapFrom
    return isGap ? [{ time: before.time + step, value: null }, point] : [point]
  })
}

/** What a chart reaches up to: all of a share, a little more than the highest of others. */
export function findMost(points: readonly TrendPoint[], unit: Unit): number {
  if (unit === 'share') return 1
  const highest = points.reduce((most, { value }) => Math.max(most, value ?? 0), 0)
  return highest === 0 ? 1 : highest * 1.15
}

/** Deploys, bans and purges; caches that went away, which are still, as one while. */
export function listMarks(marks: readonly Mark[], nowSeconds: number): readonly ChartMark[] {
  const happenings = marks.map(describeMark)
  const outages = happenings.filter(({ tone }) => tone === 'outage')
  return [
    ...joinOutages(outages.map((outage) => ({ ...outage, until: nowSeconds }))),
    ...happenings.filter(({ tone }) => tone !== 'outage'),
  ]
}

/** Together they are one ground: hundreds of caches that go at once would be as many on top of each other. */
function joinOutages(outages: readonly ChartMark[]): readonly ChartMark[] {
  const [first] = outages.toSorted((a, b) => a.at - b.at)
  if (!first) return []
  const more = outages.length - 1
  return [more === 0 ? first : { ...first, text: `${first.text} (and ${more} more)` }]
}

export interface Comparison {
  /** "4 % more than an hour ago". */
  readonly text: string
  readonly tone: 'good' | 'bad' | 'neutral'
}

/** Less than that is nothing to speak of: a share of what it was. */
const notable = 0.02
/** Of failures, a second. */
const notableRate = 0.01

/** Null: one of them is not known. */
export function compareFigures(
  kind: Pick<TrendKind, 'name' | 'isMore'>,
  now: Figures,
  before: Figures | null,
): Comparison | null {
  const { name, isMore } = kind
  const [value, was] = [now[name], before?.[name] ?? null]
  if (value === null || was === null) return null
  const change = value - was
  const least = name === 'hitRatio' ? notable / 2 : Math.max(notable * was, notableRate)
  if (Math.abs(change) <= least) return { text: 'as an hour ago', tone: 'neutral' }
  const isBetter = change > 0 === (isMore === 'good')
  return {
    text: describeDifference(name, change, was),
    tone: isMore === 'neutral' ? 'neutral' : isBetter ? 'good' : 'bad',
  }
}

function describeDifference(name: FigureName, change: number, was: number): string {
  const size = Math.abs(change)
  const sign = change > 0 ? '+' : '−'
  if (name === 'hitRatio') return `${sign}${(size * 100).toFixed(1)} points since an hour ago`
  if (was < notableRate) return 'none an hour ago'
  return `${sign}${Math.round((size / was) * 100)} % since an hour ago`
}
