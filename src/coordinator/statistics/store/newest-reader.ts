/** The current values of caches: the newest row of each, and sums over them. */
import { spanOf } from '../archive/archives.js'
import { readValue } from '../archive/row.js'
import { findColumns, inChunks, isHidden, isWithin, sumColumns, toRead } from './row-reader.js'
import type { ReadRow, ReadRows, RowParts, TimeSpan } from './row-reader.js'
import type {
  AskedCache,
  NewestAnswer,
  NewestEachAnswer,
  NewestEachQuery,
  NewestQuery,
  StatisticsArchive,
} from './statistics-archive.js'

/** A cache that has been silent for this many intervals has no newest value. */
const newestSteps = 4

export function createNewestReader(
  { caches, grid }: Pick<RowParts, 'caches' | 'grid'>,
  readRows: ReadRows,
): Pick<StatisticsArchive, 'readNewest' | 'readNewestEach'> {
  return { readNewest, readNewestEach }

  async function readNewest(query: NewestQuery): Promise<NewestAnswer> {
    const values = new Map<string, number>()
    let newest: number | null = null
    let known = 0
    for await (const [cache, { endsAt, layout, bytes }] of readNewestRows(query)) {
      known += 1
      newest = Math.max(newest ?? 0, endsAt)
      for (const [name, column] of layout.columns) {
        const value = isHidden(cache, name) ? undefined : readValue(bytes, column)
        if (value) values.set(name, (values.get(name) ?? 0) + value.average)
      }
    }
    return { endsAt: newest, caches: known, values: [...values] }
  }

  async function readNewestEach(query: NewestEachQuery): Promise<NewestEachAnswer> {
    const agentIds: number[] = []
    const ends: number[] = []
    const values: number[] = []
    for await (const [cache, { endsAt, layout, bytes }] of readNewestRows(query)) {
      agentIds.push(cache.agentId)
      ends.push(endsAt)
      for (const name of query.names) {
        const columns = findColumns(cache, layout, name, query.alternatives)
        values.push(sumColumns(bytes, columns, ({ average }) => average) ?? Number.NaN)
      }
    }
    return {
      agentIds: Float64Array.from(agentIds),
      endsAt: Float64Array.from(ends),
      values: Float64Array.from(values),
    }
  }

  /** The newest row of each cache that has a recent one. Rows received here are in memory; the others are read from the store. */
  async function* readNewestRows({
    caches: asked,
    nowMs,
  }: NewestQuery): AsyncGenerator<readonly [AskedCache, ReadRow]> {
    const range = { startMs: nowMs - newestSteps * spanOf(grid, 0), endMs: nowMs }
    for await (const some of inChunks(asked)) {
      const held = new Map(some.map((cache) => [cache, findHeld(cache, range)]))
      const others = some.filter((cache) => !held.get(cache))
      const read = new Map(others.length > 0 ? await readRows(others, 0, range) : [])
      for (const cache of some) {
        const row = held.get(cache) ?? findNewest(read.get(cache) ?? [])
        if (row) yield [cache, row]
      }
    }
  }

  function findHeld({ agentId }: AskedCache, range: TimeSpan): ReadRow | undefined {
    const live = caches.get(agentId)
    if (!live?.newest || live.isLeaving || !isWithin(live.newest.endsAt, range)) return undefined
    return toRead(live, live.newest)
  }
}

function findNewest(rows: readonly ReadRow[]): ReadRow | undefined {
  return rows.reduce<ReadRow | undefined>(
    (newest, row) => (newest && newest.endsAt > row.endsAt ? newest : row),
    undefined,
  )
}
