/** Series of one cache, and sums of several, from the rows that are stored and those that are not yet. */
import { chooseArchive, slotRanges, spanOf, type Grid } from '../../domain/archive/archives.js'
import { consolidate } from '../../domain/archive/consolidation.js'
import { readValue } from '../../domain/archive/row.js'
import type { Layout, Layouts } from './layouts.js'
import { toStored, type LiveCache } from './live-cache.js'
import type { RowStore, StoredRow } from './row-store.js'
import type {
  AskedCache,
  NewestAnswer,
  NewestQuery,
  Series,
  SeriesAnswer,
  SeriesQuery,
} from './statistics-archive.js'
import { createSums } from './sums.js'

export interface SeriesReader {
  readSeries(query: SeriesQuery): Promise<SeriesAnswer>
  readNewest(query: NewestQuery): Promise<NewestAnswer>
}

interface ReaderParts {
  readonly store: RowStore
  readonly layouts: Layouts
  readonly caches: ReadonlyMap<number, LiveCache>
  readonly grid: Grid
}

/** Chosen by us: rows that are read for one answer: about a second of work. Of many caches a coarser archive answers. */
const rowsMost = 200_000
/** Chosen by us: a cache that was not heard for so many intervals has no newest value. */
const newestSteps = 4
/** For how long a cache's row may still come: until then a sum without it would dip. */
const lateSteps = 2.5

/** Chosen by us: some ten megabytes of rows. */
const cachesAtOnce = 20

type TimeSpan = Pick<SeriesQuery, 'startMs' | 'endMs'>

interface ReadRow extends Omit<StoredRow, 'layout'> {
  readonly layout: Layout
}

export function createSeriesReader({ store, layouts, caches, grid }: ReaderParts): SeriesReader {
  return { readSeries, readNewest }

  async function readSeries(query: SeriesQuery): Promise<SeriesAnswer> {
    const { caches: asked, names, consolidation, nowMs } = query
    const rowsEach = Math.max(1, Math.floor(rowsMost / Math.max(1, asked.length)))
    const archive = chooseArchive(grid, query, Math.min(grid.rows, rowsEach))
    const range = { startMs: query.startMs, endMs: Math.min(query.endMs, nowMs) }
    const sums = names.map(() => createSums())
    const known = await findKnown(asked, names)
    for (const some of inChunks(asked)) {
      for (const [cache, rows] of await readRows(some, archive, range))
        for (const { endsAt, layout, bytes } of rows)
          for (const [at, name] of names.entries()) {
            const column = isHidden(cache, name) ? undefined : layout.columns.get(name)
            const value = column === undefined ? undefined : readValue(bytes, column)
            if (value) sums[at]?.add(endsAt, consolidate(value, consolidation))
          }
      await letOthersRun()
    }
    const settledBefore = nowMs - lateSteps * grid.stepMs
    return {
      series: sums.map((sum, at): Series => ({
        isKnown: known.has(names[at] ?? ''),
        ...sum.read(settledBefore),
      })),
    }
  }

  async function readNewest({ caches: asked, nowMs }: NewestQuery): Promise<NewestAnswer> {
    const range = { startMs: nowMs - newestSteps * spanOf(grid, 0), endMs: nowMs }
    const values = new Map<string, number>()
    let newest: number | null = null
    let heard = 0
    for (const some of inChunks(asked)) {
      for (const [cache, rows] of await readRows(some, 0, range)) {
        const row = findNewest(rows)
        if (!row) continue
        heard += 1
        newest = Math.max(newest ?? 0, row.endsAt)
        for (const [name, column] of row.layout.columns) {
          const value = isHidden(cache, name) ? undefined : readValue(row.bytes, column)
          if (value) values.set(name, (values.get(name) ?? 0) + value.average)
        }
      }
      await letOthersRun()
    }
    return { endsAt: newest, caches: heard, values: [...values] }
  }

  /** Complete ones: as stored, or newer than that. Rows of another interval lie elsewhere in the ring, and are not found. */
  async function readRows(
    asked: readonly AskedCache[],
    archive: number,
    range: TimeSpan,
  ): Promise<readonly (readonly [AskedCache, readonly ReadRow[]])[]> {
    const slots = slotRanges(grid, archive, range)
    // Before the store is asked: a commit may move them there meanwhile.
    const found = new Map(asked.map(({ agentId }) => [agentId, new Map<number, ReadRow>()]))
    const unwritten = asked.flatMap(({ agentId }) => readUnwritten(agentId, archive, range))
    const agentIds = asked.map(({ agentId }) => agentId)
    const stored = await store.readRows({ agentIds, archive, slots, ...range })
    for (const row of stored)
      if (row.knownUntil >= row.endsAt && row.spanMs === spanOf(grid, archive))
        found.get(row.agentId)?.set(row.endsAt, { ...row, layout: await layouts.read(row.layout) })
    for (const row of unwritten) found.get(row.agentId)?.set(row.endsAt, row)
    return asked.map((cache) => [cache, [...(found.get(cache.agentId)?.values() ?? [])]])
  }

  function readUnwritten(agentId: number, archive: number, range: TimeSpan): ReadRow[] {
    const live = caches.get(agentId)
    if (!live) return []
    return live.finished
      .filter((row) => row.archive === archive && isWithin(row.endsAt, range))
      .map((row) => ({ ...toStored(live, row, 0), layout: row.layout }))
  }

  async function findKnown(
    asked: readonly AskedCache[],
    names: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const stored = await store.readLayoutIds(asked.map(({ agentId }) => agentId))
    const known = new Set<string>()
    for (const cache of asked) {
      const id = stored.get(cache.agentId)
      const live = caches.get(cache.agentId)?.layout
      const layout = live ?? (id === undefined ? undefined : await layouts.read(id))
      for (const name of names)
        if (layout?.columns.has(name) && !isHidden(cache, name)) known.add(name)
    }
    return known
  }
}

function isHidden({ hidden }: AskedCache, name: string): boolean {
  return hidden !== null && name.startsWith(hidden)
}

function isWithin(time: number, { startMs, endMs }: TimeSpan): boolean {
  return time >= startMs && time <= endMs
}

function findNewest(rows: readonly ReadRow[]): ReadRow | undefined {
  return rows.reduce<ReadRow | undefined>(
    (newest, row) => (newest && newest.endsAt > row.endsAt ? newest : row),
    undefined,
  )
}

function inChunks(asked: readonly AskedCache[]): (readonly AskedCache[])[] {
  return Array.from({ length: Math.ceil(asked.length / cachesAtOnce) }, (_, at) =>
    asked.slice(at * cachesAtOnce, (at + 1) * cachesAtOnce),
  )
}

/** Samples and commits come between the caches of a large group. */
function letOthersRun(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
