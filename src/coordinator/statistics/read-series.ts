/** Reads series from the archive, summed over the caches of the request, limited to what the caller may read. */
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Actor } from '../../resources/permission.js'
import type { StateService } from '../service.js'
import type { Consolidation } from './archive/consolidation.js'
import type { TimeRange } from './archive/time-range.js'
import { findFigures } from './find-figures.js'
import type { AskedCache, Rows, Series, SeriesAnswer } from './store/statistics-archive.js'

/** A request for series: caller, caches, function, range, and the key of its errors. */
export interface SeriesRequest {
  readonly actor: Actor
  readonly caches: readonly AskedCache[]
  readonly consolidation: Consolidation
  readonly range: TimeRange
  readonly errorKey: ErrorKey
  /** `GROUP.7`, `DOMAIN.7:www.example.com`: the subject's figures are the sum over these; none: it has no figures. */
  readonly figuresOf?: readonly string[]
}

/** `time`: the end of a row, seconds since 1970. */
export type Points = readonly { readonly time: number; readonly value: number }[]

export interface CounterSeries {
  /** The name as requested. */
  readonly counter: string
  readonly values: Points
}

/** Values by member key; a member that no cache has is omitted. */
export type GraphRow = Readonly<Record<string, number>>

/** With 600 rows each this fills one response. */
const maxCounters = 50

/** Throws FleetError 'invalid'. */
export function requireFew(names: readonly string[], errorKey: ErrorKey): void {
  if (names.length > maxCounters)
    throw new FleetError(
      'invalid',
      errorKey,
      `counters: ${names.length} are too many for one call; ${maxCounters} is the most`,
    )
}

/** `names`: current names. */
export async function readSeries(
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
  return { series: sumParts(series, parts), heard }
}

/** `parts`: the parts of each sum; `series` are the series of all parts, in order. */
export function sumParts(
  series: readonly Series[],
  parts: readonly (readonly unknown[])[],
): readonly Series[] {
  let from = 0
  return parts.map(({ length }) => sumSeries(series.slice(from, (from += length))))
}

/** Sums row by row; a single series is returned as is. */
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

export function toPoints(rows: Rows | undefined): Points {
  if (!rows) return []
  return Array.from(rows.endsAt, (endsAt, at) => ({
    time: endsAt / 1000,
    value: rows.values[at] ?? 0,
  }))
}
