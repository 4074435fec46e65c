/** What an agent observed of a group in a span of time: counts that can be summed over spans and agents. Pure. */
import { firstByteSeries } from '../../traffic/figures.js'

export interface Seconds {
  readonly seconds: number
  /** From the log of the cache; null: it was not read during the whole span. */
  readonly figures: SeenFigures | null
  readonly backendRequests: number
  readonly backendFailures: number
  /** How often the cache's child process died. */
  readonly restarts: number
}

interface SeenFigures {
  readonly requests: number
  /** 5xx responses. */
  readonly errors: number
  readonly hits: number
  readonly misses: number
  /** Numbers of requests, by the bounds of `firstByteSeries`. */
  readonly firstByte: readonly number[]
}

export function hasRestarted({ restarts }: Seconds): boolean {
  return restarts > 0
}

/** The figures are null if no span has any. */
export function addUp(spans: readonly Seconds[]): Seconds {
  const [only] = spans
  if (only && spans.length === 1) return only
  const sum = startSum()
  for (const span of spans) addTo(sum, span)
  return sum
}

/** Sums the newest spans, until they are long enough and `isEnough` holds; all of them if that never happens. */
export function addNewest(
  spans: readonly Seconds[],
  atLeastSeconds: number,
  isEnough: (seconds: Seconds) => boolean,
): Seconds {
  const sum = startSum()
  for (let at = spans.length - 1; at >= 0; at -= 1) {
    const span = spans[at]
    if (span) addTo(sum, span)
    if (sum.seconds >= atLeastSeconds && isEnough(sum)) break
  }
  return sum
}

/** Summed in place: a large rollout has a million spans. */
interface Sum {
  seconds: number
  figures: { -readonly [K in keyof SeenFigures]: K extends 'firstByte' ? number[] : number } | null
  backendRequests: number
  backendFailures: number
  restarts: number
}

function startSum(): Sum {
  return { seconds: 0, figures: null, backendRequests: 0, backendFailures: 0, restarts: 0 }
}

function addTo(sum: Sum, span: Seconds): void {
  sum.seconds += span.seconds
  sum.backendRequests += span.backendRequests
  sum.backendFailures += span.backendFailures
  sum.restarts += span.restarts
  if (span.figures === null) return
  const { requests, errors, hits, misses, firstByte } = span.figures
  sum.figures ??= {
    requests: 0,
    errors: 0,
    hits: 0,
    misses: 0,
    firstByte: Array<number>(firstByteSeries.length).fill(0),
  }
  const { firstByte: counts } = sum.figures
  sum.figures.requests += requests
  sum.figures.errors += errors
  sum.figures.hits += hits
  sum.figures.misses += misses
  for (let at = 0; at < counts.length; at += 1)
    counts[at] = (counts[at] ?? 0) + (firstByte[at] ?? 0)
}
