/** The counters of a cache or group over a range; a live one is read again as it moves. */
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import { rereadAfter, type GraphRange } from './graph-range.js'
import { countersRead, type CounterSeries } from './graphs-shown.js'

export interface ReadSeries {
  readonly series: readonly CounterSeries[]
  /** What was read, seconds since 1970; null: nothing yet. */
  readonly range: { readonly from: number; readonly to: number } | null
  readonly error: CallError | null
}

/** `subject`: `agents/5` or `vclgroups/3`. */
export function useSeries(subject: string, range: GraphRange): ReadSeries {
  const ask = async (signal: AbortSignal, before: SubjectSeries): Promise<SubjectSeries> => {
    const found = await readSeries(subject, toTimes(range), signal)
    const isKept = found.error !== null && before.subject === subject
    return { ...(isKept ? { ...before, error: found.error } : found), subject }
  }
  const repeatMs = range.isLive ? rereadAfter(range.span.seconds) * 1000 : undefined
  const key = JSON.stringify([subject, range])
  const read = useAnswer<SubjectSeries>(key, nothing, ask, { repeatMs })
  // Another range takes the place of the one before when it is there; another subject's series go at once.
  return read.subject === subject ? read : nothing
}

interface SubjectSeries extends ReadSeries {
  readonly subject: string
}

function toTimes(range: GraphRange): { readonly from: number; readonly to: number } {
  if (!range.isLive) return range
  const to = Math.floor(Date.now() / 1000)
  return { from: to - range.span.seconds, to }
}

async function readSeries(
  subject: string,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<ReadSeries> {
  const words = new URLSearchParams({ counters: countersRead.join(',') })
  const outcome = await call<{ readonly stats: readonly CounterSeries[] }>(
    'GET',
    `/${subject}/stats/AVERAGE/${from}/${to}?${words}`,
    { signal },
  )
  return outcome.ok
    ? { series: outcome.value.stats, range: { from, to }, error: null }
    : { series: [], range: null, error: outcome.error }
}

const nothing: SubjectSeries = { subject: '', series: [], range: null, error: null }
