/**
 * The observations of one agent that are kept, in order: the newest minute in short spans, older spans merged by the minute, 15
 * minutes in all. The VCL that served identifies the release of a span, so adjusting a clock changes no verdict. Pure.
 */
import { addUp, type Seconds } from './observed-seconds.js'

export interface Span extends Seconds {
  /** The VCL that served the group during the whole span, by its name on the cache. */
  readonly program: string
  /** When it ended, by the clock of the coordinator that received it. */
  readonly at: number
}

const closelySeconds = 60
const keptSeconds = 15 * 60
const baselineSeconds = 10 * 60

/** `pieceSeconds`: spans within the newest minute are merged into pieces of at most this length. */
export function keepSpans(
  known: readonly Span[],
  added: readonly Span[],
  pieceSeconds: number,
): readonly Span[] {
  const pieces: Span[] = []
  let younger = 0
  for (const span of [...known, ...added].toReversed()) {
    const isClose = younger < closelySeconds
    if (younger >= keptSeconds) break
    const next = pieces.at(-1)
    const longest = isClose ? pieceSeconds : closelySeconds
    // A piece of the newest minute is not merged with older spans.
    const isOne = isClose || younger - (next?.seconds ?? 0) >= closelySeconds
    if (next?.program === span.program && isOne && next.seconds + span.seconds <= longest)
      pieces[pieces.length - 1] = { ...next, ...addUp([span, next]) }
    else pieces.push(span)
    younger += span.seconds
  }
  return pieces.toReversed()
}

/** `since`: spans since this program has served without a break; `before`: the last ten minutes of other programs before that. */
export function splitAtSwitch(spans: readonly Span[], program: string) {
  const last = spans.findLastIndex((span) => span.program !== program)
  const before = spans.slice(0, last + 1).filter((span) => span.program !== program)
  return { since: spans.slice(last + 1), before: takeNewest(before, baselineSeconds) }
}

export function takeNewest(spans: readonly Span[], seconds: number): readonly Span[] {
  let taken = 0
  const from = spans.findLastIndex((span) => (taken += span.seconds) >= seconds)
  return from === -1 ? spans : spans.slice(from)
}

/** Returns how many seconds of these spans lie after that time. */
export function countSecondsAfter(spans: readonly Span[], at: number): number {
  return spans.reduce(
    (sum, span) => sum + Math.max(0, Math.min(span.seconds, (span.at - at) / 1000)),
    0,
  )
}
