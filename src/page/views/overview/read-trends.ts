/** Builds the three small charts of an overview and their marks. Pure functions. */
import type { Mark } from '../../../resources/mark.js'
import type { Figures, Overview, OverviewProblem } from '../../../resources/overview.js'
import type { ProblemCode } from '../../../resources/problem.js'
import type { ChartMark } from '../../charts/chart-mark.js'
import type { TrendPoint } from '../../charts/lay-trend.js'
import type { Unit } from '../../charts/format-value.js'
import { describeMark } from '../graphs/describe-marks.js'

type FigureName = 'requests' | 'hitRatio' | 'failedFetches' | 'errors'

export interface TrendKind {
  readonly name: FigureName
  readonly title: string
  readonly unit: Unit
  readonly colour: string
  /** What an increase means. */
  readonly isMore: 'good' | 'bad' | 'neutral'
}

export const trendKinds: readonly TrendKind[] = [
  { name: 'requests', title: 'Requests', unit: 'rate', colour: 'var(--line-1)', isMore: 'neutral' },
  { name: 'hitRatio', title: 'Hit ratio', unit: 'share', colour: 'var(--line-3)', isMore: 'good' },
  {
    name: 'failedFetches',
    title: 'Failed fetches',
    unit: 'rate',
    colour: 'var(--bad-ink)',
    isMore: 'bad',
  },
  { name: 'errors', title: 'Errors (5xx)', unit: 'rate', colour: 'var(--bad-ink)', isMore: 'bad' },
]

/** Steps are equally spaced: a longer one is a gap. */
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

/** Returns the top of a chart: 1 for a share, else slightly more than the highest value. */
export function findMaximum(points: readonly TrendPoint[], unit: Unit): number {
  if (unit === 'share') return 1
  const highest = points.reduce((most, { value }) => Math.max(most, value ?? 0), 0)
  return highest === 0 ? 1 : highest * 1.15
}

/** Problems in which a group is not served, or by too few caches. */
const outageCodes: readonly string[] = ['all-backends-sick', 'below-min'] satisfies ProblemCode[]
/** Seconds: caches that go down within this time share one mark. */
const togetherSeconds = 60

/** Returns events as moments, and ongoing outages of whole groups as periods. The loss of one cache is a moment. */
export function listMarks(
  marks: readonly Mark[],
  problems: readonly OverviewProblem[],
  nowSeconds: number,
): readonly ChartMark[] {
  const happenings = marks.map(describeMark)
  const away = happenings.filter(({ tone }) => tone === 'outage')
  return [
    ...joinOutages(
      problems.filter(({ code }) => outageCodes.includes(code)),
      nowSeconds,
    ),
    ...joinMoments(away),
    ...happenings.filter(({ tone }) => tone !== 'outage'),
  ]
}

/** Joins all outages into one shaded period. */
function joinOutages(
  problems: readonly OverviewProblem[],
  nowSeconds: number,
): readonly ChartMark[] {
  const [first] = problems.toSorted((a, b) => (a.since < b.since ? -1 : 1))
  if (!first) return []
  const { object, message, since } = first
  const text = `${object.name}: ${message}`
  const at = Math.min(Date.parse(since) / 1000, nowSeconds)
  return [{ at, until: nowSeconds, tone: 'outage', text: countMore(text, problems.length - 1) }]
}

/** Joins the marks of caches that go down together: hundreds would overlap. */
function joinMoments(moments: readonly ChartMark[]): readonly ChartMark[] {
  const joined: { first: ChartMark; more: number }[] = []
  for (const moment of moments.toSorted((a, b) => a.at - b.at)) {
    const last = joined.at(-1)
    if (last && moment.at - last.first.at <= togetherSeconds) last.more += 1
    else joined.push({ first: moment, more: 0 })
  }
  return joined.map(({ first, more }) => ({ ...first, text: countMore(first.text, more) }))
}

function countMore(text: string, more: number): string {
  return more === 0 ? text : `${text} (and ${more} more)`
}

export interface Comparison {
  /** "4 % more than an hour ago". */
  readonly text: string
  readonly tone: 'good' | 'bad' | 'neutral'
}

/** The smallest change worth mentioning, as a share of the earlier value. */
const notable = 0.02
/** The same for failures, per second. */
const notableRate = 0.01

/** Returns null if one of the values is unknown. */
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
