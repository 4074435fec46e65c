/**
 * The archive in the thread that opened it: accepts samples, commits the rows they complete every few seconds, and answers
 * queries from stored and unwritten rows.
 */
import { maxArchives, defaultRows, spanOf, type Grid } from '../archive/archives.js'
import { startLoop, type Loop } from '../../../runtime/loop.js'
import { Semaphore } from '../../../runtime/semaphore.js'
import { ArchiveComplaints } from './archive-complaints.js'
import { claimCaches } from './claim-caches.js'
import { createLayouts } from './layouts.js'
import { readUnwritten, maxSeriesPerCache, takeSample } from './live-cache.js'
import type { ChangedCache, RowStore, StoredRow } from './row-store.js'
import { createNewestReader } from './newest-reader.js'
import { countSeries } from './kept-series.js'
import { createRowReader, type RowParts } from './row-reader.js'
import { createSeriesReader } from './series-reader.js'
import type {
  ArchiveEvents,
  CacheSample,
  NewestEachQuery,
  NewestQuery,
  SeriesQuery,
  StatisticsArchive,
} from './statistics-archive.js'

/** A sample with its values in double precision, as the thread receives it. */
export interface NumberedSample {
  readonly agentId: number
  readonly organizationId: number | null
  readonly at: number
  readonly spanMs: number | null
  readonly names: readonly string[]
  readonly values: Float64Array
}

export interface ArchiveOptions extends Grid {
  /** The maximum time until a sample is committed (docs/behaviour.md, Statistics: a kill loses 20 s at most). */
  readonly commitEveryMs: number
  /** The limit over all caches whose samples arrive here. */
  readonly maxSeries: number
  /** The limit of values in finished rows that wait for the database, over all caches; beyond it the oldest rows are dropped. */
  readonly maxUnwritten: number
}

/** 10,000 caches with 50 series each; a series takes some 400 bytes. */
const maxSeries = 500_000
/** About 200 MB while the database is unavailable: nine minutes of 1,000 caches with 40 series every 10 s. */
const maxUnwritten = 5_000_000
/** The maximum and minimum number of unwritten rows kept per cache. */
const [maxUnwrittenRows, minUnwrittenRows] = [1000, 10]

/** Commits after half an interval, so that at 10 s a kill loses at most 16 s; never more often than every second. */
export function planArchive(stepMs: number, archives = maxArchives): ArchiveOptions {
  const commitEveryMs = Math.min(5_000, Math.max(1_000, stepMs / 2))
  return {
    stepMs,
    rows: defaultRows,
    archives,
    commitEveryMs,
    maxSeries,
    maxUnwritten,
  }
}

/** The maximum number of samples queued while the database does not respond. */
const maxWaiting = 100_000

export class LocalArchive implements StatisticsArchive {
  readonly #parts: RowParts
  readonly #options: ArchiveOptions
  readonly #wrote: ArchiveEvents['wrote']
  readonly #complaints: ArchiveComplaints
  readonly #reader: Pick<StatisticsArchive, 'readSeries' | 'readNewest' | 'readNewestEach'>
  /** Serializes the work: rows are read, folded and written in the order in which samples arrived. */
  readonly #mutex = new Semaphore()
  readonly #commits: Loop
  #waiting: NumberedSample[] = []
  /** Whether the rows of archives that are no longer kept have been removed. */
  #isTrimmed: boolean

  constructor(store: RowStore, options: ArchiveOptions, events: ArchiveEvents) {
    const parts = { store, layouts: createLayouts(store), caches: new Map(), grid: options }
    const readRows = createRowReader(parts)
    this.#parts = parts
    this.#options = options
    this.#wrote = events.wrote
    this.#complaints = new ArchiveComplaints(events)
    this.#reader = {
      ...createSeriesReader(parts, readRows),
      ...createNewestReader(parts, readRows),
    }
    this.#isTrimmed = options.archives === maxArchives
    this.#commits = startLoop({ log: null, everyMs: null, pass: () => this.commit() })
  }

  record({ values, organizationId = null, ...sample }: CacheSample): void {
    const numbers = Float64Array.from(values, (value) => value ?? Number.NaN)
    this.recordAll([{ ...sample, organizationId, values: numbers }])
  }

  recordAll(samples: readonly NumberedSample[]): void {
    for (const sample of samples) if (this.#waiting.length < maxWaiting) this.#waiting.push(sample)
    this.#schedule()
  }

  release(agentId: number): void {
    void this.#mutex.run(async () => {
      // After the samples that arrived earlier.
      await this.#takeWaiting()
      const cache = this.#parts.caches.get(agentId)
      if (cache) cache.isLeaving = true
    }) // never rejects
    this.#schedule()
  }

  readSeries(query: SeriesQuery) {
    return this.#mutex.run(() => this.#takeWaiting()).then(() => this.#reader.readSeries(query))
  }

  readNewest(query: NewestQuery) {
    return this.#mutex.run(() => this.#takeWaiting()).then(() => this.#reader.readNewest(query))
  }

  readNewestEach(query: NewestEachQuery) {
    return this.#mutex.run(() => this.#takeWaiting()).then(() => this.#reader.readNewestEach(query))
  }

  async retain(agentIds: readonly number[], nowMs: number): Promise<number> {
    const { store, caches } = this.#parts
    const wanted = new Set(agentIds)
    const stored = await this.#mutex.run(async () => {
      await this.#tidyLayouts(nowMs)
      return store.listAgents()
    })
    const gone = stored.filter((agentId) => !wanted.has(agentId))
    // One lock per cache: a cache has some thousand rows, and commits must not wait for all caches.
    for (const agentId of gone)
      await this.#mutex.run(() => {
        caches.delete(agentId)
        return store.remove(agentId)
      })
    if (!this.#isTrimmed)
      for (const agentId of stored)
        await this.#mutex.run(() => store.trim(agentId, this.#options.archives))
    this.#isTrimmed = true
    return gone.length
  }

  /** Never rejects: rows that cannot be written wait for the next commit. */
  commit(): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#takeWaiting()
      await this.#writeChanged()
    })
  }

  async close(): Promise<void> {
    await this.#commits.close()
    await this.commit()
    await this.#parts.store.close()
  }

  #schedule(): void {
    this.#commits.wake(this.#options.commitEveryMs)
  }

  async #takeWaiting(): Promise<void> {
    if (this.#waiting.length === 0) return
    const { caches } = this.#parts
    const samples = this.#waiting
    this.#waiting = []
    // An agent that returns may have been linked to another coordinator in the meantime: its cache is claimed again.
    if (samples.some(({ agentId }) => caches.get(agentId)?.isLeaving)) await this.#writeChanged()
    try {
      await claimCaches(
        this.#parts,
        samples.map(({ agentId }) => agentId),
      )
    } catch (error) {
      const message = 'the statistics of caches cannot be read: their samples are lost'
      this.#complaints.ofError(message, error)
    }
    for (const { agentId, organizationId } of samples) {
      const cache = caches.get(agentId)
      if (cache) cache.organizationId = organizationId
    }
    this.#takeSamples(samples)
  }

  #takeSamples(samples: readonly NumberedSample[]): void {
    const { caches, layouts } = this.#parts
    const { maxSeries } = this.#options
    const kept = countSeries(caches.values())
    for (const sample of samples) {
      const { agentId, organizationId } = sample
      const cache = caches.get(agentId)
      if (!cache) continue
      const before = cache.state.series
      const room = kept.findRoom(maxSeries, organizationId)
      const refused = takeSample(cache, sample, {
        layouts,
        series: room + before,
        takesFigures: kept.total() < maxSeries / 4,
        unwritten: this.#rowsThatWait(kept.total()),
      })
      const added = cache.state.series - before
      kept.add(organizationId, added)
      if (refused === 0) continue
      const isOfCache = cache.state.series >= maxSeriesPerCache
      const isFull = kept.total() >= maxSeries
      const isOfShare = added === room
      this.#complaints.ofSeries(
        { agentId, organizationId, refused, maxSeries },
        isOfCache ? 'cache' : isFull ? 'total' : isOfShare ? 'share' : 'figures',
      )
    }
  }

  #rowsThatWait(series: number): number {
    const share = Math.floor(this.#options.maxUnwritten / Math.max(1, series))
    return Math.min(maxUnwrittenRows, Math.max(minUnwrittenRows, share))
  }

  async #writeChanged(): Promise<void> {
    const { store, caches, layouts } = this.#parts
    const changed = [...caches.values()].filter(({ hasNew, isLeaving }) => hasNew || isLeaving)
    if (changed.length === 0) return
    const startedAt = performance.now()
    const rows: StoredRow[] = []
    const saves: ChangedCache[] = []
    try {
      for (const cache of changed) {
        const unwritten = await readUnwritten(cache, layouts)
        for (const row of unwritten.rows) rows.push(row)
        if (unwritten.changed) saves.push(unwritten.changed)
      }
      await store.write(rows, saves)
    } catch (error) {
      for (const cache of changed) cache.checkpointAt = 0
      this.#complaints.ofError('statistics cannot be written', error)
      this.#schedule()
      return
    }
    for (const cache of changed) {
      cache.finished = []
      cache.hasNew = false
      if (cache.isLeaving) caches.delete(cache.agentId)
    }
    this.#complaints.forget()
    this.#wrote((performance.now() - startedAt) / 1000, rows.length)
  }

  /** Removes layouts that no row can use any more: the coarsest archive is overwritten within this time. */
  async #tidyLayouts(nowMs: number): Promise<void> {
    const { store, caches, layouts, grid } = this.#parts
    const { rows, archives } = this.#options
    layouts.keepOnly(new Set([...caches.values()].map(({ layout }) => layout)))
    const longestMs = rows * spanOf(grid, archives - 1)
    await store.keepLayouts(layouts.listIds(), { nowMs, sinceMs: nowMs - longestMs })
  }
}
