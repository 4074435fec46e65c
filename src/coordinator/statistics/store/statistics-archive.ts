/** The archive's port: samples in, series out. It lives in a thread of its own (archive-thread.ts), or in this one. */
import type { Consolidation } from '../archive/consolidation.js'

export interface StatisticsArchive {
  /** Never waits, never throws: what is not taken any more is lost, and said in the log. */
  record(sample: CacheSample): void
  /** The agent's link ended: what came is written, and another coordinator may go on with it. */
  release(agentId: number): void
  /** Rejects with FleetError 'unavailable' (key 'store') when the archive does not work. */
  readSeries(query: SeriesQuery): Promise<SeriesAnswer>
  readNewest(query: NewestQuery): Promise<NewestAnswer>
  readNewestEach(query: NewestEachQuery): Promise<NewestEachAnswer>
  /**
   * Removes what is of other agents than these, which were deleted, and what no row can need any more. Answers of how many
   * agents.
   */
  retain(agentIds: readonly number[], nowMs: number): Promise<number>
  /** Writes what came. */
  commit(): Promise<void>
  close(): Promise<void>
}

export interface CacheSample {
  readonly agentId: number
  /** Whose agent it is: organizations share what is kept in all. Null or left out: the system administrator's. */
  readonly organizationId?: number | null
  /** By the coordinator's clock. */
  readonly at: number
  /** For how long before that the values hold; null: not known. */
  readonly spanMs: number | null
  /** The same array as long as they are the same names. */
  readonly names: readonly string[]
  /** A counter's events per second since the sample before, a gauge as it is; null: not known. */
  readonly values: readonly (number | null)[]
}

/** A cache that is asked about. */
export interface AskedCache {
  readonly agentId: number
  /** Series whose names begin so are not for who asks; null: all are. */
  readonly hidden: string | null
  /** Groups whose figures, and those of their domains, are for who asks; absent: none. */
  readonly groups?: ReadonlySet<number>
}

/** By a name that is asked for: what a cache that has no such counter is asked for instead. */
export type Alternatives = ReadonlyMap<string, string>

export interface SeriesQuery {
  /** Of several the sums. */
  readonly caches: readonly AskedCache[]
  /** Current names; `GROUP.*.<figure>` is the sum over the groups whose figures are for who asks. */
  readonly names: readonly string[]
  readonly alternatives?: Alternatives
  readonly consolidation: Consolidation
  /** Rows that end in this range, both included. */
  readonly startMs: number
  readonly endMs: number
  readonly nowMs: number
  /** More rows of one cache than these are not wanted: the finest archive with at most so many answers. */
  readonly rowsMost?: number
}

export interface SeriesAnswer {
  /** In the order of the names. */
  readonly series: readonly Series[]
  /** How many of the caches have a row. */
  readonly heard: Rows
}

/** Ends of rows, in order, and a value for each. */
export interface Rows {
  readonly endsAt: Float64Array
  readonly values: Float64Array
}

export interface Series extends Rows {
  /** One of the caches has a counter of this name. */
  readonly isKnown: boolean
}

export interface NewestQuery {
  readonly caches: readonly AskedCache[]
  readonly nowMs: number
}

export interface NewestAnswer {
  /** Of the newest row; null: nothing was heard lately. */
  readonly endsAt: number | null
  /** The caches that were heard. */
  readonly caches: number
  /** Sums of averages, by name. */
  readonly values: readonly (readonly [name: string, value: number])[]
}

export interface NewestEachQuery extends NewestQuery {
  /** As for series. */
  readonly names: readonly string[]
  readonly alternatives?: Alternatives
}

/** Of the caches that were heard lately, in the order in which they were asked for. */
export interface NewestEachAnswer {
  readonly agentIds: Float64Array
  /** Of each one's newest row. */
  readonly endsAt: Float64Array
  /** Averages: of each cache one for each name; NaN: not known. */
  readonly values: Float64Array
}

export interface ArchiveEvents {
  /** A commit, of how many rows. */
  readonly wrote: (seconds: number, rows: number) => void
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void
}
