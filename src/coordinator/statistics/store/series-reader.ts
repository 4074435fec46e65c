/** Reads series of one cache, or sums over several, from stored and unwritten rows. */
import { chooseArchive } from '../archive/archives.js'
import { consolidate } from '../archive/consolidation.js'
import type { Layout } from './layouts.js'
import { findColumns, inChunks, sumColumns, type ReadRows, type RowParts } from './row-reader.js'
import type {
  AskedCache,
  Rows,
  Series,
  SeriesAnswer,
  SeriesQuery,
  StatisticsArchive,
} from './statistics-archive.js'

/** The maximum number of rows read for one answer, about one second of work. For many caches a coarser archive is used. */
const maxRows = 200_000
/** How late a cache's row may arrive: until then a sum without it would dip. */
const lateSteps = 2.5

export function createSeriesReader(
  { store, layouts, caches, grid }: RowParts,
  readRows: ReadRows,
): Pick<StatisticsArchive, 'readSeries'> {
  return { readSeries }

  async function readSeries(query: SeriesQuery): Promise<SeriesAnswer> {
    const { caches: asked, names, consolidation, nowMs } = query
    const affordable = Math.max(1, Math.floor(maxRows / Math.max(1, asked.length)))
    const rowsEach = Math.min(affordable, query.maxRows ?? grid.rows)
    // The future has no rows and must not count against the finest archive.
    const range = { startMs: query.startMs, endMs: Math.min(query.endMs, nowMs) }
    const archive = chooseArchive(grid, { ...range, nowMs }, Math.min(grid.rows, rowsEach))
    const sums = names.map(() => createSums())
    const heard = createSums()
    const known = await findKnown(query)
    for await (const some of inChunks(asked))
      for (const [cache, rows] of await readRows(some, archive, range)) {
        const columnsOf = createColumnFinder(cache, query)
        for (const { endsAt, layout, bytes } of rows) {
          heard.add(endsAt, 1)
          for (const [at, columns] of columnsOf(layout).entries()) {
            const value = sumColumns(bytes, columns, (one) => consolidate(one, consolidation))
            if (value !== undefined) sums[at]?.add(endsAt, value)
          }
        }
      }
    const settledBefore = nowMs - lateSteps * grid.stepMs
    return {
      series: sums.map((sum, at): Series => ({
        isKnown: known.has(names[at] ?? ''),
        ...sum.read(settledBefore),
      })),
      heard: heard.read(settledBefore),
    }
  }

  async function findKnown({
    caches: asked,
    names,
    alternatives,
  }: SeriesQuery): Promise<ReadonlySet<string>> {
    const stored = await store.readLayoutIds(asked.map(({ agentId }) => agentId))
    const known = new Set<string>()
    for (const cache of asked) {
      const id = stored.get(cache.agentId)
      const live = caches.get(cache.agentId)?.layout
      const layout = live ?? (id === undefined ? undefined : await layouts.read(id))
      for (const name of names)
        if (layout && findColumns(cache, layout, name, alternatives).length > 0) known.add(name)
    }
    return known
  }
}

/** Finds the columns of each name; remembers the last layout, because rows of a cache mostly have the same one. */
function createColumnFinder(cache: AskedCache, { names, alternatives }: SeriesQuery) {
  let known: { readonly layout: Layout; readonly columns: readonly (readonly number[])[] } | null =
    null
  return (layout: Layout) => {
    if (known?.layout !== layout)
      known = {
        layout,
        columns: names.map((name) => findColumns(cache, layout, name, alternatives)),
      }
    return known.columns
  }
}

/** Adds up the series of several caches, row by row. */
interface Sums {
  add(endsAt: number, value: number): void
  /**
   * In order of time. Rows that end after `settledBefore` are omitted unless all caches have them: the missing ones may still
   * arrive.
   */
  read(settledBefore: number): Rows
}

function createSums(): Sums {
  const rows = new Map<number, { sum: number; caches: number }>()
  return {
    add: (endsAt, value) => {
      const row = rows.get(endsAt)
      if (row) {
        row.sum += value
        row.caches += 1
      } else rows.set(endsAt, { sum: value, caches: 1 })
    },
    read: (settledBefore) => {
      let most = 0
      for (const { caches } of rows.values()) most = Math.max(most, caches)
      const shown = [...rows]
        .filter(([endsAt, { caches }]) => endsAt <= settledBefore || caches === most)
        .sort(([a], [b]) => a - b)
      return {
        endsAt: Float64Array.from(shown, ([endsAt]) => endsAt),
        values: Float64Array.from(shown, ([, { sum }]) => sum),
      }
    },
  }
}
