/** The counters of caches over a range and over an earlier one for comparison; a live range is reloaded as it moves. */
import type { Point } from '../../charts/align-series.js'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { CallError } from '../../api/http.js'
import { readComparison } from './compare-with.js'
import { rereadAfter, type GraphRange } from './graph-range.js'
import { countersRead, type CounterSeries } from './graphs-shown.js'
import { formatSubject, seriesPath, trafficPath, type Subject } from './subject.js'
import { toSeries, trafficRead, type GraphRows } from './traffic-shown.js'

interface Seconds {
  readonly from: number
  readonly to: number
}

export interface ReadSeries {
  readonly series: readonly CounterSeries[]
  /** The number of caches measured in each row; empty if unknown. */
  readonly heard: readonly Point[]
  /** The range that was read, seconds since 1970; null: nothing yet. */
  readonly range: Seconds | null
  /** The series of the earlier range, with its own times; null: no comparison. */
  readonly before: Before | null
  readonly error: CallError | null
}

interface Before {
  readonly title: string
  readonly offset: number
  readonly series: readonly CounterSeries[]
}

/** `compared`: as in the URL. */
export function useSeries(subject: Subject, range: GraphRange, compared: string): ReadSeries {
  const word = formatSubject(subject)
  const ask = async (signal: AbortSignal, before: SubjectSeries): Promise<SubjectSeries> => {
    const found = await readSeries(subject, toTimes(range), compared, signal)
    const isKept = found.error !== null && before.subject === word
    return { ...(isKept ? { ...before, error: found.error } : found), subject: word }
  }
  const repeatMs = range.isLive ? rereadAfter(range.span.seconds, subject) * 1000 : undefined
  const key = JSON.stringify([word, range, compared])
  const read = useAnswer<SubjectSeries>(key, nothing, ask, { repeatMs })
  // Series of the old range stay until the new range is loaded; series of another subject are dropped at once.
  return read.subject === word ? read : nothing
}

interface SubjectSeries extends ReadSeries {
  readonly subject: string
}

function toTimes(range: GraphRange): Seconds {
  if (!range.isLive) return range
  const to = Math.floor(Date.now() / 1000)
  return { from: to - range.span.seconds, to }
}

/** Reads the series of its requests. Failed reads are left out, since the counters can still be shown. */
export async function readTraffic(
  subject: Subject,
  seconds: Seconds,
  signal: AbortSignal,
  names: readonly string[] = trafficRead,
): Promise<readonly CounterSeries[]> {
  const read = names.map(async (graph) => {
    const path = trafficPath(subject, seconds, graph)
    if (path === null) return []
    const answer = await call<Readonly<Record<string, GraphRows>>>('GET', path, { signal })
    return answer.ok ? toSeries(answer.value[graph] ?? []) : []
  })
  return (await Promise.all(read)).flat()
}

interface SeriesAnswer {
  readonly stats: readonly CounterSeries[]
  readonly heard?: readonly Point[]
}

async function readSeries(
  subject: Subject,
  range: Seconds,
  compared: string,
  signal: AbortSignal,
): Promise<ReadSeries> {
  const comparison = readComparison(compared, range.to)
  const earlier = comparison && {
    from: range.from - comparison.offset,
    to: range.to - comparison.offset,
  }
  const [now, then] = await Promise.all([
    readOnce(subject, range, signal),
    earlier ? readOnce(subject, earlier, signal) : null,
  ])
  if (now.error) return { ...nothing, error: now.error }
  const before = comparison && then?.error === null ? { ...comparison, series: then.series } : null
  return { ...now, range, before, error: then?.error ?? null }
}

type ReadOnce = Pick<ReadSeries, 'series' | 'heard' | 'error'>

async function readOnce(
  subject: Subject,
  seconds: Seconds,
  signal: AbortSignal,
): Promise<ReadOnce> {
  const path = seriesPath(subject, seconds, countersRead)
  const [counters, traffic] = await Promise.all([
    path === null ? null : call<SeriesAnswer>('GET', path, { signal }),
    readTraffic(subject, seconds, signal),
  ])
  if (counters?.ok === false) return { series: [], heard: [], error: counters.error }
  const { stats = [], heard = [] } = counters?.value ?? {}
  return { series: [...traffic, ...stats], heard, error: null }
}

const nothing: SubjectSeries = {
  subject: '',
  series: [],
  heard: [],
  range: null,
  before: null,
  error: null,
}
