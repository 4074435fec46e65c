/** Reads complete rows of some caches: stored rows, and rows completed here that are not yet written. */
import { isFigure, parseFigure } from '../../../resources/counters.js'
import { slotRanges, spanOf, type Grid } from '../archive/archives.js'
import { readValue, type Value } from '../archive/row.js'
import type { Layout, Layouts } from './layouts.js'
import { toStored, type FinishedRow, type LiveCache } from './live-cache.js'
import type { RowStore, StoredRow } from './row-store.js'
import type { Alternatives, AskedCache, SeriesQuery } from './statistics-archive.js'

export interface RowParts {
  readonly store: RowStore
  readonly layouts: Layouts
  readonly caches: Map<number, LiveCache>
  readonly grid: Grid
}

export type TimeSpan = Pick<SeriesQuery, 'startMs' | 'endMs'>

export interface ReadRow extends Omit<StoredRow, 'layout'> {
  readonly layout: Layout
}

export type ReadRows = (
  asked: readonly AskedCache[],
  archive: number,
  range: TimeSpan,
) => Promise<readonly (readonly [AskedCache, readonly ReadRow[]])[]>

/** About ten megabytes of rows. */
const cachesAtOnce = 20

export function createRowReader({ store, layouts, caches, grid }: RowParts): ReadRows {
  return readRows

  /** Complete rows only; unwritten rows replace stored ones. Rows of another interval lie elsewhere in the ring: not found. */
  async function readRows(
    asked: readonly AskedCache[],
    archive: number,
    range: TimeSpan,
  ): Promise<readonly (readonly [AskedCache, readonly ReadRow[]])[]> {
    const slots = slotRanges(grid, archive, range)
    // Taken before the store is read: a commit may move them there in the meantime.
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
      .map((row) => toRead(live, row))
  }
}

export function toRead(cache: LiveCache, row: FinishedRow): ReadRow {
  return { ...toStored(cache, row, 0), layout: row.layout }
}

/**
 * No columns if the cache has no such counter or the caller may not read it; for `GROUP.*.<figure>` one column per group that
 * the caller may read.
 */
export function findColumns(
  cache: AskedCache,
  layout: Layout,
  name: string,
  alternatives?: Alternatives,
): readonly number[] {
  if (name.startsWith(ofEveryGroup))
    return listGroupColumns(layout, name.slice(ofEveryGroup.length))
      .filter(({ groupId }) => cache.groups?.has(groupId))
      .map(({ column }) => column)
  if (isHidden(cache, name)) return []
  const column = layout.columns.get(name) ?? layout.columns.get(alternatives?.get(name) ?? '')
  return column === undefined ? [] : [column]
}

/** The sum of the known values; undefined if none is known. */
export function sumColumns(
  bytes: Uint8Array,
  columns: readonly number[],
  take: (value: Value) => number,
): number | undefined {
  let sum: number | undefined
  for (const column of columns) {
    const value = readValue(bytes, column)
    if (value) sum = (sum ?? 0) + take(value)
  }
  return sum
}

const ofEveryGroup = 'GROUP.*.'

type GroupColumns = readonly { readonly groupId: number; readonly column: number }[]

/** Cached by layout and figure: caches share layouts, and a layout may have thousands of names. */
const groupColumns = new WeakMap<Layout, Map<string, GroupColumns>>()

function listGroupColumns(layout: Layout, figure: string): GroupColumns {
  const known = groupColumns.get(layout) ?? new Map<string, GroupColumns>()
  groupColumns.set(layout, known)
  const found = known.get(figure) ?? findGroupColumns(layout, figure)
  known.set(figure, found)
  return found
}

function findGroupColumns({ columns }: Layout, figure: string): GroupColumns {
  return [...columns].flatMap(([name, column]) => {
    const isOfGroup = name.startsWith('GROUP.') && name.endsWith(`.${figure}`)
    const groupId = isOfGroup ? parseFigure(name)?.groupId : null
    return typeof groupId === 'number' ? [{ groupId, column }] : []
  })
}

export function isHidden({ hidden, groups }: AskedCache, name: string): boolean {
  if (isFigure(name)) return groups?.has(parseFigure(name)?.groupId ?? 0) !== true
  return hidden !== null && name.startsWith(hidden)
}

export function isWithin(time: number, { startMs, endMs }: TimeSpan): boolean {
  return time >= startMs && time <= endMs
}

/** Yields to samples and commits between chunks of a large group's caches. */
export async function* inChunks(
  asked: readonly AskedCache[],
): AsyncGenerator<readonly AskedCache[]> {
  for (let start = 0; start < asked.length; start += cachesAtOnce) {
    yield asked.slice(start, start + cachesAtOnce)
    await new Promise((resume) => setImmediate(resume))
  }
}
