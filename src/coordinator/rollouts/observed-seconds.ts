/** What an agent saw of a group in a span of time: counts that add up over spans and agents. Pure. */
import { firstByteSeries } from '../../traffic/figures.js'

export interface Seconds {
  readonly seconds: number
  /** Of the log; null: it was not read all the while. */
  readonly figures: SeenFigures | null
  readonly backendRequests: number
  readonly backendFailures: number
  /** Children that died. */
  readonly restarts: number
}

interface SeenFigures {
  readonly requests: number
  /** Answers 5xx. */
  readonly errors: number
  readonly hits: number
  readonly misses: number
  /** By the bounds of `firstByteSeries`. */
  readonly firstByte: readonly number[]
}

const noFigures: SeenFigures = {
  requests: 0,
  errors: 0,
  hits: 0,
  misses: 0,
  firstByte: firstByteSeries.map(() => 0),
}

/** Figures are null where none of the spans has some. */
export function addUp(spans: readonly Seconds[]): Seconds {
  const sum = { seconds: 0, backendRequests: 0, backendFailures: 0, restarts: 0 }
  const read: SeenFigures[] = []
  for (const span of spans) {
    sum.seconds += span.seconds
    sum.backendRequests += span.backendRequests
    sum.backendFailures += span.backendFailures
    sum.restarts += span.restarts
    if (span.figures) read.push(span.figures)
  }
  return { ...sum, figures: read.length === 0 ? null : read.reduce(addFigures, noFigures) }
}

function addFigures(a: SeenFigures, b: SeenFigures): SeenFigures {
  return {
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    hits: a.hits + b.hits,
    misses: a.misses + b.misses,
    firstByte: a.firstByte.map((count, at) => count + (b.firstByte[at] ?? 0)),
  }
}

/** The newest spans that are so long together and hold enough; all of them where they are less. */
export function takeNewest(
  spans: readonly Seconds[],
  atLeastSeconds: number,
  isEnough: (seconds: Seconds) => boolean,
): readonly Seconds[] {
  let taken = addUp([])
  for (let at = spans.length - 1; at >= 0; at -= 1) {
    const span = spans[at]
    if (span) taken = addUp([span, taken])
    if (taken.seconds >= atLeastSeconds && isEnough(taken)) return spans.slice(at)
  }
  return spans
}
