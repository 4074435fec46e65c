/** Series of counters and named graphs over a range of time, of one cache or summed over several. */
import type { Consolidation } from './archive/consolidation.js'
import { findGraph, functionOfMember, graphNames, toGraphValue } from './archive/graphs.js'
import type { TimeRange } from './archive/time-range.js'
import { defaultCounters, findMemoryCounters, resolveCounter } from '../../resources/counters.js'
import { groupBy } from '../../group-by.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Actor } from '../../resources/permission.js'
import { findFigures } from './find-figures.js'
import type { AskedCache, Rows, Series, SeriesAnswer } from './store/statistics-archive.js'
import type { StateService } from '../service.js'

/** What is asked, of whom, and in whose words an error is told. */
interface SeriesRequest {
  readonly actor: Actor
  readonly caches: readonly AskedCache[]
  readonly consolidation: Consolidation
  readonly range: TimeRange
  readonly errorKey: ErrorKey
}

/** `time`: the end of a row, seconds since 1970. */
type Points = readonly { readonly time: number; readonly value: number }[]

interface CounterSeries {
  /** As it was asked for. */
  readonly counter: string
  readonly values: Points
}

/** By key of the member; a member that no cache has is left out. */
type GraphRow = Readonly<Record<string, number>>

/** With 600 rows each this fills one answer. */
const countersMost = 50

const kept = new Set(defaultCounters.map(({ name }) => name))

/** The answers to one question, for the calls of both APIs. */
export function openSeries(service: StateService, request: SeriesRequest) {
  return {
    readCounters: async (names: readonly string[]) =>
      (await readCounterSeries(service, request, names)).stats,
    /** With the number of caches that have a row. */
    readHeard: (names: readonly string[]) => readCounterSeries(service, request, names),
    readUsual: () => readUsualSeries(service, request),
    readGraph: (name: string) => readGraph(service, request, name),
  }
}

/** Throws FleetError: not-found for a name that no cache has, invalid for too many, unavailable. */
async function readCounterSeries(
  service: StateService,
  request: SeriesRequest,
  names: readonly string[],
): Promise<{ readonly stats: readonly CounterSeries[]; readonly heard: Points }> {
  const { errorKey } = request
  if (names.length > countersMost)
    throw new FleetError(
      'invalid',
      errorKey,
      `counters: ${names.length} are too many for one call; ${countersMost} is the most`,
    )
  const current = names.map((name) => resolveCounter(name) ?? '')
  const { series: found, heard } = await readSeries(
    service,
    request,
    current,
    findMemoryCounters(current),
  )
  const stats = names.map((counter, at) => {
    const series = found[at]
    if (!series || !(series.isKnown || kept.has(current[at] ?? '')))
      throw new FleetError(
        'not-found',
        errorKey,
        `counter ${counter.slice(0, 100)} was not found: it is none of the usual ones, and no cache that was asked for has it`,
      )
    return { counter, values: toPoints(series) }
  })
  return { stats, heard: toPoints(heard) }
}

/** The usual counters, as far as a cache has them. */
async function readUsualSeries(
  service: StateService,
  request: SeriesRequest,
): Promise<readonly CounterSeries[]> {
  const names = [...kept]
  const { series: found } = await readSeries(service, request, names)
  return names.flatMap((counter, at) => {
    const series = found[at]
    return series?.isKnown ? [{ counter, values: toPoints(series) }] : []
  })
}

/** Throws FleetError: not-found for another graph, unavailable. */
async function readGraph(
  service: StateService,
  request: SeriesRequest,
  name: string,
): Promise<readonly GraphRow[]> {
  const members = findGraph(name)
  if (!members)
    throw new FleetError(
      'not-found',
      request.errorKey,
      `graph ${name.slice(0, 100)} was not found; there are ${graphNames.join(', ')}`,
    )
  const nowMs = service.now()
  const rows = new Map<number, Record<string, number>>()
  for (const [consolidation, some] of groupBy(members, ({ counter }) =>
    functionOfMember(counter, request.consolidation),
  )) {
    // All members by the same moment: another one may be another archive's.
    const { series: found } = await readSeries(
      service,
      { ...request, consolidation, nowMs },
      some.map(({ counter }) => counter),
    )
    for (const [at, { key, counter }] of some.entries())
      for (const { time, value } of toPoints(found[at])) {
        const row = rows.get(time) ?? {}
        row[key] = toGraphValue(counter, value)
        rows.set(time, row)
      }
  }
  return [...rows].sort(([a], [b]) => a - b).map(([time, values]) => ({ ...values, time }))
}

async function readSeries(
  service: StateService,
  {
    actor,
    caches,
    consolidation,
    range,
    nowMs = service.now(),
  }: SeriesRequest & {
    nowMs?: number
  },
  names: readonly string[],
  alternatives: ReadonlyMap<string, string> = new Map(),
): Promise<SeriesAnswer> {
  const { parts, groups } = await findFigures(service, actor, names)
  const shown = groups.size > 0 ? caches.map((cache) => ({ ...cache, groups })) : caches
  const query = { caches: shown, alternatives, consolidation, ...range, nowMs }
  const { series, heard } = await service.statistics.readSeries({ ...query, names: parts.flat() })
  let from = 0
  const sums = parts.map(({ length }) => sumSeries(series.slice(from, (from += length))))
  return { series: sums, heard }
}

/** Row by row; of one it is that one. */
function sumSeries(parts: readonly Series[]): Series {
  const [only] = parts
  if (only && parts.length === 1) return only
  const sums = new Map<number, number>()
  for (const { endsAt, values } of parts)
    for (const [at, time] of endsAt.entries())
      sums.set(time, (sums.get(time) ?? 0) + (values[at] ?? 0))
  const rows = [...sums].sort(([a], [b]) => a - b)
  return {
    isKnown: parts.some(({ isKnown }) => isKnown),
    endsAt: Float64Array.from(rows, ([time]) => time),
    values: Float64Array.from(rows, ([, value]) => value),
  }
}

function toPoints(rows: Rows | undefined): Points {
  if (!rows) return []
  return Array.from(rows.endsAt, (endsAt, at) => ({
    time: endsAt / 1000,
    value: rows.values[at] ?? 0,
  }))
}
