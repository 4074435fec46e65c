/** The named traffic graphs of a group or a domain: how each is computed from the figures (docs/behaviour.md, Graphs). */
import { findPercentile, firstByteSeries, statusSeries } from '../../../traffic/figures.js'

/** A figure of one row, summed over all caches; zero if there were no such events. */
type SumOf = (figure: string) => number

export interface TrafficGraph {
  readonly figures: readonly string[]
  /** Values by member key; null: the row has no events for this graph. */
  readonly draw: (sumOf: SumOf) => Readonly<Record<string, number>> | null
  /** A ratio covers all events of a row, whatever consolidation function is requested. */
  readonly isRatio: boolean
}

const percentiles = { p50: 0.5, p95: 0.95, p99: 0.99 }
/** More digits would be noise, because values come from histograms and samples. */
const digits = 4

const graphs: ReadonlyMap<string, TrafficGraph> = new Map([
  ['status', drawCounts(statusSeries)],
  [
    'firstbyte',
    {
      figures: firstByteSeries,
      isRatio: true,
      draw: (sumOf) => {
        const counts = firstByteSeries.map(sumOf)
        const found = Object.entries(percentiles).flatMap(([key, share]) => {
          const ms = findPercentile(counts, share)
          return ms === null ? [] : [[key, round(ms)] as const]
        })
        return found.length === 0 ? null : Object.fromEntries(found)
      },
    },
  ],
  [
    'hitratio',
    {
      figures: ['hits', 'misses'],
      isRatio: true,
      draw: (sumOf) => {
        const lookups = sumOf('hits') + sumOf('misses')
        return lookups > 0 ? { hitRatio: round(sumOf('hits') / lookups) } : null
      },
    },
  ],
  ['bytes', drawCounts(['bytes'])],
])

export const trafficGraphNames: readonly string[] = [...graphs.keys()]

/** Undefined if there is no graph of this name. */
export function findTrafficGraph(name: string): TrafficGraph | undefined {
  return graphs.get(name)
}

function drawCounts(figures: readonly string[]): TrafficGraph {
  return {
    figures,
    isRatio: false,
    draw: (sumOf) => Object.fromEntries(figures.map((figure) => [figure, round(sumOf(figure))])),
  }
}

function round(value: number): number {
  return value >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits))
}
