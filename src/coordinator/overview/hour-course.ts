/** The course of the last hour, from the archive: all of it once, then what came since. */
import type {
  AskedCache,
  Series,
  StatisticsArchive,
} from '../statistics/store/statistics-archive.js'
import { emptyRates, figureCounters } from './judge-figures.js'

/** Sums over all caches that were asked, of a while that ends then. */
export interface Step {
  readonly endsAt: number
  readonly rates: Float64Array
}

export interface Course {
  /** In order of time. */
  readonly steps: readonly Step[]
  /** How many caches: another number makes other steps. */
  readonly caches: number
}

export const hourMs = 3_600_000
/** Kept beyond an hour, so that the step of an hour ago is among them. */
const beyondMs = 5 * 60_000
/** Of the course. */
const stepsMost = 60
/** Rows that are read for it, a second of work at most; of more caches steps are longer. */
const rowsMost = 200_000
/** Read again: the last ones may not have been complete. */
const stepsAnew = 3

export async function readCourse(
  statistics: StatisticsArchive,
  { caches, nowMs, known }: CourseQuery,
): Promise<Course> {
  const spanMs = (hourMs + beyondMs) / findStepsMost(caches.length)
  const newest = known?.caches === caches.length ? known.steps.at(-1) : undefined
  const isRecent = newest !== undefined && nowMs - newest.endsAt < stepsAnew * spanMs
  const steps = isRecent ? stepsAnew : findStepsMost(caches.length)
  const { series } = await statistics.readSeries({
    caches,
    names: figureCounters,
    consolidation: 'AVERAGE',
    startMs: nowMs - steps * spanMs,
    endMs: nowMs,
    nowMs,
    rowsMost: steps,
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
  readonly known: Course | undefined
}

function findStepsMost(caches: number): number {
  return Math.max(1, Math.min(stepsMost, Math.floor(rowsMost / Math.max(1, caches))))
}

/** What is read later counts. */
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
