/** Traffic figures of a group or a domain, summed over the parts of the subject (docs/behaviour.md, Graphs). */
import { FleetError } from '../../errors.js'
import { figureNames, usualFigures } from '../../traffic/figures.js'
import type { StateService } from '../service.js'
import { functionOfMember } from './archive/graphs.js'
import { findTrafficGraph, trafficGraphNames, type TrafficGraph } from './archive/traffic-graphs.js'
import {
  readSeries,
  requireFew,
  sumParts,
  toPoints,
  type CounterSeries,
  type GraphRow,
  type SeriesRequest,
} from './read-series.js'
import type { Series } from './store/statistics-archive.js'

/** For a subject that has figures but no counters. */
export function openFigures(service: StateService, request: SeriesRequest) {
  const { errorKey } = request
  return {
    readCounters: (names: readonly string[]) => {
      requireFew(names, errorKey)
      for (const name of names)
        if (!figureNames.includes(name))
          throw notFound(request, `figure ${name.slice(0, 100)}`, figureNames)
      return readFigureSeries(service, request, names)
    },
    readUsual: () => readFigureSeries(service, request, usualFigures),
    readGraph: (name: string) => {
      const graph = findTrafficGraph(name)
      if (!graph) throw notFound(request, `graph ${name.slice(0, 100)}`, trafficGraphNames)
      return readTrafficGraph(service, request, graph)
    },
  }
}

function notFound({ errorKey }: SeriesRequest, what: string, known: readonly string[]) {
  return new FleetError(
    'not-found',
    errorKey,
    `${what} was not found; there are ${known.join(', ')}`,
  )
}

async function readFigureSeries(
  service: StateService,
  request: SeriesRequest,
  figures: readonly string[],
): Promise<readonly CounterSeries[]> {
  const { times, valueOf } = await readRows(service, request, figures)
  return figures.map((counter) => ({
    counter,
    values: times.map((time) => ({ time, value: valueOf(counter, time) })),
  }))
}

export async function readTrafficGraph(
  service: StateService,
  request: SeriesRequest,
  { figures, draw, isRatio }: TrafficGraph,
): Promise<readonly GraphRow[]> {
  const [first = ''] = figures
  const consolidation = isRatio ? 'AVERAGE' : functionOfMember(first, request.consolidation)
  const { times, valueOf } = await readRows(service, { ...request, consolidation }, figures)
  return times.flatMap((time) => {
    const members = draw((figure) => valueOf(figure, time))
    return members ? [{ ...members, time }] : []
  })
}

interface FigureRows {
  /** The end times of rows, in order. */
  readonly times: readonly number[]
  readonly valueOf: (figure: string, time: number) => number
}

/** A row exists if its number of requests is known; any other missing figure is zero. */
async function readRows(
  service: StateService,
  request: SeriesRequest,
  figures: readonly string[],
): Promise<FigureRows> {
  const [requests, ...found] = await readFigures(service, request, ['requests', ...figures])
  const columns = new Map(
    found.map((series, at) => [
      figures[at],
      new Map(toPoints(series).map(({ time, value }) => [time, value])),
    ]),
  )
  return {
    times: toPoints(requests).map(({ time }) => time),
    valueOf: (figure, time) => columns.get(figure)?.get(time) ?? 0,
  }
}

/** In the order of the figures. */
async function readFigures(
  service: StateService,
  request: SeriesRequest,
  figures: readonly string[],
): Promise<readonly Series[]> {
  const { figuresOf = [] } = request
  const parts = figures.map((figure) => figuresOf.map((subject) => `${subject}.${figure}`))
  const { series } = await readSeries(service, request, parts.flat())
  return sumParts(series, parts)
}
