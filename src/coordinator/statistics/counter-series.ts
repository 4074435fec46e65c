/** Series of counters and named graphs over a time range, for one cache or summed over several. */
import { findGraph, functionOfMember, graphNames, toGraphValue } from './archive/graphs.js'
import { defaultCounters, findMemoryCounters, resolveCounter } from '../../resources/counters.js'
import { groupBy } from '../../group-by.js'
import { FleetError } from '../../errors.js'
import type { StateService } from '../service.js'
import { findTrafficGraph, trafficGraphNames } from './archive/traffic-graphs.js'
import { readTrafficGraph } from './figure-series.js'
import {
  readSeries,
  requireFew,
  toPoints,
  type CounterSeries,
  type GraphRow,
  type Points,
  type SeriesRequest,
} from './read-series.js'

const kept = new Set(defaultCounters.map(({ name }) => name))

/** The readers for one request, for the calls of both APIs. */
export function openSeries(service: StateService, request: SeriesRequest) {
  return {
    readCounters: async (names: readonly string[]) =>
      (await readCounterSeries(service, request, names)).stats,
    /** Also returns the number of caches that have each row. */
    readMeasured: (names: readonly string[]) => readCounterSeries(service, request, names),
    readUsual: () => readUsualSeries(service, request),
    readGraph: (name: string) => readGraph(service, request, name),
  }
}

/** Throws FleetError: not-found for a name that no cache has, invalid for too many names, unavailable. */
async function readCounterSeries(
  service: StateService,
  request: SeriesRequest,
  names: readonly string[],
): Promise<{ readonly stats: readonly CounterSeries[]; readonly heard: Points }> {
  const { errorKey } = request
  requireFew(names, errorKey)
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

/** The usual counters that a cache has. */
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

/** Throws FleetError: not-found for an unknown graph, unavailable. */
async function readGraph(
  service: StateService,
  request: SeriesRequest,
  name: string,
): Promise<readonly GraphRow[]> {
  const { figuresOf = [] } = request
  const ofTraffic = figuresOf.length > 0 ? findTrafficGraph(name) : undefined
  if (ofTraffic) return readTrafficGraph(service, request, ofTraffic)
  const members = findGraph(name)
  if (!members)
    throw new FleetError(
      'not-found',
      request.errorKey,
      `graph ${name.slice(0, 100)} was not found; there are ${listGraphs(request).join(', ')}`,
    )
  const nowMs = service.now()
  const rows = new Map<number, Record<string, number>>()
  for (const [consolidation, some] of groupBy(members, ({ counter }) =>
    functionOfMember(counter, request.consolidation),
  )) {
    // All members use the same `nowMs`: with different ones they could be read from different archives.
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

function listGraphs({ figuresOf = [] }: SeriesRequest): readonly string[] {
  return figuresOf.length > 0 ? [...graphNames, ...trafficGraphNames] : graphNames
}
