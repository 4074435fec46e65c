/** The figures of the last hour in steps, read from the archive: all steps once, then only the newest. */
import type {
  AskedCache,
  Series,
  StatisticsArchive,
} from '../statistics/store/statistics-archive.js'
import { emptyRates, figureCounters } from './judge-figures.js'

/** Sums over all requested caches, for the interval that ends at `endsAt`. */
export interface Step {
  readonly endsAt: number
  readonly rates: Float64Array
}

export interface HourSeries {
  /** Oldest first. */
  readonly steps: readonly Step[]
  /** The number of caches; it determines the length of the steps. */
  readonly caches: number
}

export const hourMs = 3_600_000
/** Steps are kept for this much longer than an hour, so that the step of an hour ago is included. */
const beyondMs = 5 * 60_000
/** The maximum number of steps in a course. */
const maxSteps = 60
/** Rows read for a course, at most a second of work; with more caches the steps are longer. */
const maxRows = 200_000
/** The last steps are read again: they may have been incomplete. */
const stepsAnew = 3

export async function readHourSeries(
  statistics: StatisticsArchive,
  { caches, nowMs, known }: CourseQuery,
): Promise<HourSeries> {
  const spanMs = (hourMs + beyondMs) / findMaxSteps(caches.length)
  const newest = known?.caches === caches.length ? known.steps.at(-1) : undefined
  const isRecent = newest !== undefined && nowMs - newest.endsAt < stepsAnew * spanMs
  const steps = isRecent ? stepsAnew : findMaxSteps(caches.length)
  const { series } = await statistics.readSeries({
    caches,
    names: figureCounters,
    consolidation: 'AVERAGE',
    startMs: nowMs - steps * spanMs,
    endMs: nowMs,
    nowMs,
    maxRows: steps,
  })
  const before = isRecent ? known?.steps : undefined
  return {
    caches: caches.length,
    steps: joinSteps(before ?? [], toSteps(series), nowMs - hourMs - beyondMs),
  }
}

interface CourseQuery {
  readonly caches: readonly AskedCache[]
  readonly nowMs: number
  readonly known: HourSeries | undefined
}

function findMaxSteps(caches: number): number {
  return Math.max(1, Math.min(maxSteps, Math.floor(maxRows / Math.max(1, caches))))
}

/** Of two steps with the same end the later read is used. */
export function joinSteps(
  before: readonly Step[],
  later: readonly Step[],
  oldest: number,
): readonly Step[] {
  const steps = new Map([...before, ...later].map((step) => [step.endsAt, step]))
  return [...steps.values()]
    .filter(({ endsAt }) => endsAt >= oldest)
    .toSorted((a, b) => a.endsAt - b.endsAt)
}

function toSteps(series: readonly Series[]): readonly Step[] {
  const steps = new Map<number, Float64Array>()
  for (const [counter, { endsAt, values }] of series.entries())
    for (const [at, time] of endsAt.entries()) {
      const rates = steps.get(time) ?? emptyRates()
      steps.set(time, rates)
      rates[counter] = values[at] ?? Number.NaN
    }
  return [...steps].map(([endsAt, rates]) => ({ endsAt, rates }))
}
