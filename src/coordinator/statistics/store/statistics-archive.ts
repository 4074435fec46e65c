/** The archive's interface: samples in, series out. It runs in its own thread (archive-thread.ts) or in this one. */
import type { Consolidation } from '../archive/consolidation.js'

export interface StatisticsArchive {
  /** Never waits, never throws: samples that it cannot accept are lost, which is logged. */
  record(sample: CacheSample): void
  /** Called when the agent's link ended: writes the received samples, then another coordinator may continue. */
  release(agentId: number): void
  /** Rejects with FleetError 'unavailable' (key 'store') if the archive does not work. */
  readSeries(query: SeriesQuery): Promise<SeriesAnswer>
  readNewest(query: NewestQuery): Promise<NewestAnswer>
  readNewestEach(query: NewestEachQuery): Promise<NewestEachAnswer>
  /**
   * Removes the data of all other agents (they were deleted) and layouts that no row can use any more. Returns the number of
   * agents removed.
   */
  retain(agentIds: readonly number[], nowMs: number): Promise<number>
  /** Writes the received samples. */
  commit(): Promise<void>
  close(): Promise<void>
}

export interface CacheSample {
  readonly agentId: number
  /** The agent's owner: organizations share the total number of series. Null or omitted: the system administrator. */
  readonly organizationId?: number | null
  /** By the coordinator's clock. */
  readonly at: number
  /** The length of the time before `at` that the values cover; null: unknown. */
  readonly spanMs: number | null
  /** The same array object as long as the names are the same. */
  readonly names: readonly string[]
  /** Counters: events per second since the previous sample; gauges: the level; null: unknown. */
  readonly values: readonly (number | null)[]
}

/** A cache in a query. */
export interface AskedCache {
  readonly agentId: number
  /** A name prefix of series that are hidden from the caller; null: none. */
  readonly hidden: string | null
  /** Groups whose figures (and those of their domains) the caller may read; absent: none. */
  readonly groups?: ReadonlySet<number>
}

/** By requested name: the counter that is read from a cache without a counter of that name. */
export type Alternatives = ReadonlyMap<string, string>

export interface SeriesQuery {
  /** Several caches are summed. */
  readonly caches: readonly AskedCache[]
  /** Current names; `GROUP.*.<figure>` is the sum over the groups whose figures the caller may read. */
  readonly names: readonly string[]
  readonly alternatives?: Alternatives
  readonly consolidation: Consolidation
  /** Rows that end in this range, both inclusive. */
  readonly startMs: number
  readonly endMs: number
  readonly nowMs: number
  /** The maximum number of rows per cache: the finest archive with at most this many is read. */
  readonly maxRows?: number
}

export interface SeriesAnswer {
  /** In the order of the names. */
  readonly series: readonly Series[]
  /** The number of caches that have the row. */
  readonly heard: Rows
}

/** The end times of rows, in order, and a value for each. */
export interface Rows {
  readonly endsAt: Float64Array
  readonly values: Float64Array
}

export interface Series extends Rows {
  /** Whether one of the caches has a counter of this name. */
  readonly isKnown: boolean
}

export interface NewestQuery {
  readonly caches: readonly AskedCache[]
  readonly nowMs: number
}

export interface NewestAnswer {
  /** The end of the newest row; null: no recent row. */
  readonly endsAt: number | null
  /** The number of caches with a recent row. */
  readonly caches: number
  /** Sums of averages, by name. */
  readonly values: readonly (readonly [name: string, value: number])[]
}

export interface NewestEachQuery extends NewestQuery {
  /** As in SeriesQuery. */
  readonly names: readonly string[]
  readonly alternatives?: Alternatives
}

/** One entry per cache with a recent row, in the order of the query. */
export interface NewestEachAnswer {
  readonly agentIds: Float64Array
  /** The end of each cache's newest row. */
  readonly endsAt: Float64Array
  /** Averages, one per name for each cache; NaN: unknown. */
  readonly values: Float64Array
}

export interface ArchiveEvents {
  /** Called after a commit, with its duration and number of rows. */
  readonly wrote: (seconds: number, rows: number) => void
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void
}
