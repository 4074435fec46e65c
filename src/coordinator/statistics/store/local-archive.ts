/**
 * The archive in the thread that opened it: takes samples, commits what they finished every few seconds, answers from what is
 * stored and what is not yet.
 */
import { archivesMost, defaultRows, spanOf, type Grid } from '../archive/archives.js'
import { Turns } from '../../../runtime/turns.js'
import { createLayouts } from './layouts.js'
import {
  createLiveCache,
  readUnwritten,
  replaySteps,
  restoreLiveCache,
  seriesPerCacheMost,
  takeSample,
  type LiveCache,
} from './live-cache.js'
import type { ChangedCache, RowStore, SavedCache, StoredRow } from './row-store.js'
import { createNewestReader } from './newest-reader.js'
import { countSeries } from './kept-series.js'
import { createRowReader } from './row-reader.js'
import { createSeriesReader } from './series-reader.js'
import type { ArchiveEvents, StatisticsArchive } from './statistics-archive.js'

/** A sample whose values are in double precision already, as the thread gets it. */
export interface NumberedSample {
  readonly agentId: number
  readonly organizationId: number | null
  readonly at: number
  readonly spanMs: number | null
  readonly names: readonly string[]
  readonly values: Float64Array
}

export interface LocalArchive extends StatisticsArchive {
  recordAll(samples: readonly NumberedSample[]): void
}

export interface ArchiveOptions extends Grid {
  /** How long samples may wait for their commit (docs/behaviour.md, Statistics: a kill loses 20 s at most). */
  readonly commitEveryMs: number
  /** Of all caches whose samples come here. */
  readonly seriesMost: number
  /** Values of finished rows that wait for the database, of all caches; then the oldest rows go. */
  readonly unwrittenMost: number
}

/** Chosen by us: 5,000 caches of 50 series. */
const seriesMost = 250_000
/** Chosen by us: some 200 MB while the database is away: nine minutes of 1,000 caches of 40 series, at 10 s. */
const unwrittenMost = 5_000_000
/** Chosen by us: what waits of one cache, at most and at least. */
const [unwrittenRowsMost, unwrittenRowsLeast] = [1000, 10]

/** Chosen by us: half an interval, so that with one of 10 s a kill loses 16 s at most; not oftener than each second. */
export function planArchive(stepMs: number, archives = archivesMost): ArchiveOptions {
  const commitEveryMs = Math.min(5_000, Math.max(1_000, stepMs / 2))
  return { stepMs, rows: defaultRows, archives, commitEveryMs, seriesMost, unwrittenMost }
}

/** Chosen by us: samples that wait while the database does not answer. */
const waitingMost = 100_000

export function createLocalArchive(
  store: RowStore,
  options: ArchiveOptions,
  events: ArchiveEvents,
): LocalArchive {
  const caches = new Map<number, LiveCache>()
  const layouts = createLayouts(store)
  const parts = { store, layouts, caches, grid: options }
  const readRows = createRowReader(parts)
  const reader = { ...createSeriesReader(parts, readRows), ...createNewestReader(parts, readRows) }
  let waiting: NumberedSample[] = []
  /** One thing after the other: rows are read, folded and written in the order in which samples came. */
  const turns = new Turns()
  let timer: NodeJS.Timeout | null = null
  const said = new Set<string>()
  /** Rows of coarser archives than are kept, written when more were, have been looked for. */
  let isTrimmed = options.archives === archivesMost
  let isClosed = false

  return {
    record: ({ values, organizationId = null, ...sample }) => {
      const numbers = Float64Array.from(values, (value) => value ?? Number.NaN)
      recordAll([{ ...sample, organizationId, values: numbers }])
    },
    recordAll,
    release: (agentId) => {
      void turns.run(() => leave(agentId)) // never rejects
      schedule()
    },
    readSeries: (query) => turns.run(takeWaiting).then(() => reader.readSeries(query)),
    readNewest: (query) => turns.run(takeWaiting).then(() => reader.readNewest(query)),
    readNewestEach: (query) => turns.run(takeWaiting).then(() => reader.readNewestEach(query)),
    retain: (agentIds, nowMs) => retain(new Set(agentIds), nowMs),
    commit: () => turns.run(commit),
    close: async () => {
      isClosed = true
      if (timer) clearTimeout(timer)
      await turns.run(commit)
      await store.close()
    },
  }

  function recordAll(samples: readonly NumberedSample[]): void {
    for (const sample of samples) if (waiting.length < waitingMost) waiting.push(sample)
    schedule()
  }

  function schedule(): void {
    if (timer || isClosed) return
    timer = setTimeout(() => {
      timer = null
      void turns.run(commit) // never rejects
    }, options.commitEveryMs)
  }

  async function takeWaiting(): Promise<void> {
    if (waiting.length === 0) return
    const samples = waiting
    waiting = []
    // Who comes back may have been another coordinator's meanwhile: it is claimed anew.
    if (samples.some(({ agentId }) => caches.get(agentId)?.isLeaving)) await writeChanged()
    try {
      await claimNew(samples.map(({ agentId }) => agentId))
    } catch (error) {
      complain('the statistics of caches cannot be read: their samples are lost', error)
    }
    for (const { agentId, organizationId } of samples) {
      const cache = caches.get(agentId)
      if (cache) cache.organizationId = organizationId
    }
    const kept = countSeries(caches.values())
    for (const sample of samples) {
      const { agentId, organizationId } = sample
      const cache = caches.get(agentId)
      if (!cache) continue
      const before = cache.state.series
      const room = kept.findRoom(options.seriesMost, organizationId)
      const refused = takeSample(cache, sample, {
        layouts,
        series: room + before,
        unwritten: rowsThatWait(kept.total()),
      })
      kept.add(organizationId, cache.state.series - before)
      if (refused === 0) continue
      const isOfCache = cache.state.series >= seriesPerCacheMost
      const isFull = kept.total() >= options.seriesMost
      complainOfSeries(sample, refused, isOfCache ? 'cache' : isFull ? 'total' : 'share')
    }
  }

  /** Behind the samples that came before it. */
  async function leave(agentId: number): Promise<void> {
    await takeWaiting()
    const cache = caches.get(agentId)
    if (cache) cache.isLeaving = true
  }

  function rowsThatWait(series: number): number {
    const share = Math.floor(options.unwrittenMost / Math.max(1, series))
    return Math.min(unwrittenRowsMost, Math.max(unwrittenRowsLeast, share))
  }

  async function claimNew(agentIds: readonly number[]): Promise<void> {
    const fresh = [...new Set(agentIds)].filter((agentId) => !caches.has(agentId))
    if (fresh.length === 0) return
    const saved = await store.claim(fresh)
    const restored: LiveCache[] = []
    for (const agentId of fresh) restored.push(await openCache(agentId, saved.get(agentId)))
    const steps = await store.readSteps(
      restored
        .filter(({ state }) => state.folded > 0)
        .map(({ agentId, state }) => ({ agentId, after: state.folded * options.stepMs })),
    )
    for (const cache of restored) {
      replaySteps(cache, steps.get(cache.agentId) ?? [])
      caches.set(cache.agentId, cache)
    }
  }

  async function openCache(agentId: number, saved: SavedCache | undefined): Promise<LiveCache> {
    const { checkpoint, layout: id } = saved ?? {}
    if (checkpoint === undefined || id === undefined) return createLiveCache(agentId, options)
    const layout = await layouts.read(id)
    return (
      restoreLiveCache(agentId, options, { layout, checkpoint }) ??
      createLiveCache(agentId, options)
    )
  }

  /** Never rejects: what cannot be written waits for the next time. */
  async function commit(): Promise<void> {
    await takeWaiting()
    await writeChanged()
  }

  async function writeChanged(): Promise<void> {
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
      complain('statistics cannot be written', error)
      schedule()
      return
    }
    for (const cache of changed) {
      cache.finished = []
      cache.hasNew = false
      if (cache.isLeaving) caches.delete(cache.agentId)
    }
    said.clear()
    events.wrote((performance.now() - startedAt) / 1000, rows.length)
  }

  async function retain(agentIds: ReadonlySet<number>, nowMs: number): Promise<number> {
    const stored = await turns.run(async () => {
      await tidyLayouts(nowMs)
      return store.listAgents()
    })
    const gone = stored.filter((agentId) => !agentIds.has(agentId))
    // Each in a turn of its own: a cache has some thousand rows, and commits must not wait for all.
    for (const agentId of gone)
      await turns.run(() => {
        caches.delete(agentId)
        return store.remove(agentId)
      })
    if (!isTrimmed)
      for (const agentId of stored) await turns.run(() => store.trim(agentId, options.archives))
    isTrimmed = true
    return gone.length
  }

  /** Those that no row can have any more go: the coarsest archive is overwritten in this time. */
  async function tidyLayouts(nowMs: number): Promise<void> {
    layouts.keepOnly(new Set([...caches.values()].map(({ layout }) => layout)))
    const longestMs = options.rows * spanOf(options, options.archives - 1)
    await store.keepLayouts(layouts.listIds(), { nowMs, sinceMs: nowMs - longestMs })
  }

  /** Once until something is written again. */
  function complain(message: string, error: unknown): void {
    if (said.has(message)) return
    said.add(message)
    events.warn({ reason: error instanceof Error ? error.message : String(error) }, message)
  }

  /** Once for each organization until something is written again. */
  function complainOfSeries(
    { agentId, organizationId }: NumberedSample,
    refused: number,
    full: keyof typeof seriesComplaints,
  ): void {
    const message = seriesComplaints[full]
    const key = `${message} ${full === 'share' ? organizationId : ''}`
    if (said.has(key)) return
    said.add(key)
    events.warn({ agentId, organizationId, refused, seriesMost: options.seriesMost }, message)
  }
}

/** By what is full. */
const seriesComplaints = {
  cache: 'a cache has more counters than are kept',
  total:
    'all series that this coordinator keeps are taken, further counters are not kept; link some agents to another coordinator',
  share:
    'nearly all series that this coordinator keeps are taken, and the organization holds its share of them: further counters of its caches are not kept; link some of its agents to another coordinator',
} as const
