/** From an overview to its three small charts, and the marks in them. Values in, values out. */
import type { Figures, Overview } from '../../../resources/overview.js'
import type { ChartMark } from '../../charts/chart-mark.js'
import type { TrendPoint } from '../../charts/lay-trend.js'
import type { Unit } from '../../charts/format-value.js'

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

const deploys = new Set(['deploy', 'rollback', 'reload', 'promote', 'undeploy', 'stage'])
const removals = new Set(['invalidate', 'ban'])
/** What stops a cache or its backends from serving. */
const outages = new Set(['agent-down', 'cache-failing', 'all-backends-sick'])

/** Deploys, bans and purges, and outages that go on. */
export function listMarks(
  { changes, problems }: Pick<Overview, 'changes' | 'problems'>,
  nowSeconds: number,
): readonly ChartMark[] {
  const done = (changes ?? []).flatMap(({ at, action, account, text }): ChartMark[] => {
    const tone = deploys.has(action) ? 'change' : removals.has(action) ? 'removal' : null
    return tone ? [{ at: Date.parse(at) / 1000, tone, text: `${account} ${text}` }] : []
  })
  const out = (problems ?? [])
    .filter(({ code }) => outages.has(code))
    .map(({ since, object, message }): ChartMark => {
      const text = `${object.name}: ${message}`
      return { at: Date.parse(since) / 1000, until: nowSeconds, tone: 'outage', text }
    })
  return [...joinOutages(out), ...done]
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
  { name, isMore }: Pick<TrendKind, 'name' | 'isMore'>,
  now: Figures,
  before: Figures | null,
): Comparison | null {
  const [value, was] = [now[name], before?.[name] ?? null]
  if (value === null || was === null) return null
  const change = value - was
  const isNotable =
    Math.abs(change) > (name === 'hitRatio' ? notable / 2 : Math.max(notable * was, notableRate))
  if (!isNotable) return { text: 'as an hour ago', tone: 'neutral' }
  const isBetter = change > 0 === (isMore === 'good')
  const tone = isMore === 'neutral' ? 'neutral' : isBetter ? 'good' : 'bad'
  const sign = change > 0 ? '+' : '−'
  const size =
    name === 'hitRatio'
      ? `${(Math.abs(change) * 100).toFixed(1)} points`
      : was < notableRate
        ? 'from none'
        : `${Math.round((Math.abs(change) / was) * 100)} %`
  return {
    text: size === 'from none' ? 'none an hour ago' : `${sign}${size} since an hour ago`,
    tone,
  }
}
