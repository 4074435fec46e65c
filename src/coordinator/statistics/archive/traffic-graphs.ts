/** The named graphs of the traffic of a group or a domain: what each draws of its figures (docs/behaviour.md, Graphs). */
import { findPercentile, firstByteSeries, statusSeries } from '../../../traffic/figures.js'

/** Of one row, over all caches; zero for what did not happen in it. */
type SumOf = (figure: string) => number

export interface TrafficGraph {
  readonly figures: readonly string[]
  /** By key of the member; null: nothing happened that it could tell. */
  readonly draw: (sumOf: SumOf) => Readonly<Record<string, number>> | null
  /** It is of all that happened in a row, whichever function is asked for. */
  readonly isRatio: boolean
}

const percentiles = { p50: 0.5, p95: 0.95, p99: 0.99 }
/** More would be noise: of a histogram, and of what was sampled. */
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

/** Undefined: there is no graph of this name. */
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
