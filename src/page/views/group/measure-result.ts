/** The effect of a deploy on its caches' figures: before, after, and whether they got worse. Pure functions. */
import type { HistoryEntry } from '../../../resources/vclgroup.js'

/** The time before and after a deploy that is compared. */
export const watchedSeconds = 600

const [hits, misses] = ['MAIN.cache_hit', 'MAIN.cache_miss']
const [requests, failed] = ['MAIN.client_req', 'MAIN.fetch_failed']
export const countersWatched = [hits, misses, requests, failed] as const

/** Names for `/graph/{name}/AVERAGE/…`: status of responses and time to first byte. */
export const trafficWatched = ['status', 'firstbyte'] as const
const classes = [1, 2, 3, 4, 5].map((digit) => `status_${digit}xx`)

/** As returned by `/stats/AVERAGE/…` and `/graph/…`: events per second in each row, or milliseconds. */
export interface WatchedSeries {
  readonly counter: string
  /** `time`: the end of the row, seconds since 1970. */
  readonly values: readonly { readonly time: number; readonly value: number }[]
}

export interface Figures {
  /** Null: no lookups, or nothing measured. */
  readonly hitRatio: number | null
  /** Per second. */
  readonly requests: number | null
  readonly failedFetches: number | null
  /** Share of 5xx among all responses of the group. Null: no responses, or no log of the caches was read. */
  readonly errors: number | null
  /** 95th percentile of the time to first byte, in milliseconds. */
  readonly firstByte: number | null
}

interface Compared {
  readonly before: Figures
  readonly after: Figures
}

/** The row that contains the deploy itself counts for neither side. */
export function compareFigures(series: readonly WatchedSeries[], deployedAt: number): Compared {
  const step = findStep(series)
  return {
    before: toFigures(series, (time) => time <= deployedAt),
    after: toFigures(series, (time) => time - step >= deployedAt),
  }
}

/** Rows are equally spaced, except for gaps. */
function findStep(series: readonly WatchedSeries[]): number {
  const distances = series.flatMap(({ values }) =>
    values.slice(1).map(({ time }, at) => time - (values[at]?.time ?? 0)),
  )
  return distances.length === 0 ? 0 : Math.min(...distances)
}

function toFigures(series: readonly WatchedSeries[], isWanted: (time: number) => boolean): Figures {
  const meanOf = (counter: string): number | null => {
    const values = series.find((one) => one.counter === counter)?.values ?? []
    const wanted = values.filter(({ time }) => isWanted(time))
    if (wanted.length === 0) return null
    return wanted.reduce((sum, { value }) => sum + value, 0) / wanted.length
  }
  const [hit, missed] = [meanOf(hits), meanOf(misses)]
  const lookups = (hit ?? 0) + (missed ?? 0)
  const answers = classes.reduce((sum, counter) => sum + (meanOf(counter) ?? 0), 0)
  return {
    hitRatio: lookups > 0 ? (hit ?? 0) / lookups : null,
    requests: meanOf(requests),
    failedFetches: meanOf(failed),
    errors: answers > 0 ? (meanOf('status_5xx') ?? 0) / answers : null,
    firstByte: meanOf('p95'),
  }
}

/** As a share of all lookups. */
const hitRatioDrop = 0.1
const failedFactor = 2
/** A smaller share of the requests is noise. */
const minFailedShare = 0.001
/** Anything less counts as immediate. */
const firstByteLeastMs = 5

/** Returns the figures that are clearly worse than before. */
export function findWorse({ before, after }: Compared): ReadonlySet<keyof Figures> {
  const worse = new Set<keyof Figures>()
  if (before.hitRatio !== null && after.hitRatio !== null)
    if (before.hitRatio - after.hitRatio > hitRatioDrop) worse.add('hitRatio')
  const [was, is] = [before.failedFetches ?? 0, after.failedFetches ?? 0]
  if (is > was * failedFactor && is > (after.requests ?? 0) * minFailedShare)
    worse.add('failedFetches')
  const isMore = (of: 'errors' | 'firstByte', least: number): boolean =>
    (after[of] ?? 0) > Math.max(least, (before[of] ?? Infinity) * failedFactor)
  if (isMore('errors', minFailedShare)) worse.add('errors')
  if (isMore('firstByte', firstByteLeastMs)) worse.add('firstByte')
  return worse
}

const watchedActions = ['deploy', 'promote', 'rollback', 'reload']

/** Returns the newest change of the active revision if it is recent enough; `history`: newest first. */
export function findRecent(history: readonly HistoryEntry[], nowMs: number): HistoryEntry | null {
  // Entries of a stage carry the revision that was active then.
  const newest = history.find(({ revision, action }) => revision !== null && !/stage$/.test(action))
  if (!newest || !watchedActions.includes(newest.action)) return null
  return nowMs - Date.parse(newest.at) < watchedSeconds * 1000 ? newest : null
}
