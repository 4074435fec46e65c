/** A cache whose samples arrive here: its open rows, and its finished rows that are not yet written. */
import { isFigure } from '../../../resources/counters.js'
import { slotOf, type Grid } from '../archive/archives.js'
import {
  addSample,
  createCacheState,
  keepSeries,
  readOpenRow,
  replayRow,
  widenSeries,
  type CacheState,
  type Sample,
} from '../archive/cache-archive.js'
import { decodeCheckpoint, encodeCheckpoint } from '../archive/checkpoint.js'
import { decodeColumns, encodeColumns, type Row } from '../archive/row.js'
import { emptyLayout, type Layout, type Layouts } from './layouts.js'
import type { ChangedCache, StoredRow } from './row-store.js'

export interface LiveCache {
  readonly agentId: number
  /** The agent's owner at its last sample; null: the system administrator, or no sample yet. */
  organizationId: number | null
  readonly state: CacheState
  layout: Layout
  /** Finished rows that are not yet written. */
  finished: FinishedRow[]
  /** The newest finished row of the finest archive, written or not; null: none was finished here. */
  newest: FinishedRow | null
  /** The last received names and the column of each; -1: the series is not kept. */
  sent: { readonly names: readonly string[]; readonly columns: Int32Array } | null
  hasNew: boolean
  checkpointAt: number
  /** When series that are no longer sent were last dropped; null: never. */
  tidiedAt: number | null
  /** The agent's link ended: the cache is removed once all its rows are written. */
  isLeaving: boolean
}

export interface FinishedRow extends Row {
  readonly layout: Layout
}

/** A cache has about 40 series, a few per backend, and at most 26 for each of 140 groups and domains. */
export const maxSeriesPerCache = 4_000
/** The shortest interval between removing unused names: an agent that always sends new names cannot fill the table. */
const tidyEveryMs = 86_400_000
/** The maximum number of steps folded again after a restart; staggered by agent, so that not all caches are saved at once. */
const checkpointSteps = 64

export function createLiveCache(agentId: number, grid: Grid): LiveCache {
  return wrapState(agentId, createCacheState(grid, 0), emptyLayout)
}

/** Returns undefined if the saved state does not fit; the caller then starts with an empty cache. */
export function restoreLiveCache(
  agentId: number,
  grid: Grid,
  saved: { readonly layout: Layout; readonly checkpoint: Uint8Array },
): LiveCache | undefined {
  const state = decodeCheckpoint(grid, saved.checkpoint)
  if (!state || state.series > saved.layout.names.length) return undefined
  widenSeries(state, saved.layout.names.length)
  const cache = wrapState(agentId, state, saved.layout)
  cache.checkpointAt = nextCheckpoint(cache)
  return cache
}

function wrapState(agentId: number, state: CacheState, layout: Layout): LiveCache {
  return {
    agentId,
    state,
    layout,
    organizationId: null,
    finished: [],
    newest: null,
    sent: null,
    hasNew: false,
    checkpointAt: 0,
    tidiedAt: null,
    isLeaving: false,
  }
}

export function replaySteps(cache: LiveCache, steps: readonly StoredRow[]): void {
  const { grid } = cache.state
  for (const { archive, endsAt, spanMs, knownUntil, bytes } of steps)
    if (spanMs === grid.stepMs)
      replayRow(cache.state, { archive, endsAt, spanMs, knownUntil, columns: decodeColumns(bytes) })
}

interface TakenSample extends Sample {
  readonly names: readonly string[]
}

/** The layouts, and the capacity that the other caches leave for this one. */
interface Room {
  readonly layouts: Layouts
  /** The maximum number of series of this cache. */
  readonly series: number
  /** Whether it may add series of figures; counters take precedence. */
  readonly takesFigures: boolean
  /** The maximum number of unwritten finished rows; beyond it the oldest are dropped. */
  readonly unwritten: number
}

/** The values of the current sample by column. */
const scratch = new Float64Array(maxSeriesPerCache)

/** Returns the number of refused series if the names changed, else 0. */
export function takeSample(
  cache: LiveCache,
  { names, values, ...sample }: TakenSample,
  room: Room,
): number {
  const isOther = cache.sent?.names !== names
  if (isOther) {
    if (shouldTidy(cache, names, sample.at)) dropUnsent(cache, names, room.layouts, sample.at)
    fitLayout(cache, names, room)
  }
  const columns = cache.sent?.columns ?? new Int32Array()
  const byColumn = scratch.subarray(0, cache.state.series).fill(Number.NaN)
  let refused = 0
  for (const [index, column] of columns.entries())
    if (column >= 0) byColumn[column] = values[index] ?? Number.NaN
    else refused += 1
  finishRows(cache, addSample(cache.state, { ...sample, values: byColumn }), room)
  cache.hasNew = true
  return isOther ? refused : 0
}

function finishRows(
  cache: LiveCache,
  rows: ReturnType<typeof addSample>,
  { unwritten }: Room,
): void {
  const { layout, finished } = cache
  for (const row of rows) {
    const done = { ...row, layout }
    finished.push(done)
    if (row.archive === 0) cache.newest = done
  }
  if (finished.length > unwritten) finished.splice(0, finished.length - unwritten)
}

function shouldTidy(cache: LiveCache, names: readonly string[], at: number): boolean {
  if (cache.tidiedAt !== null && Math.abs(at - cache.tidiedAt) < tidyEveryMs) return false
  const added = new Set(names.filter((name) => !cache.layout.columns.has(name)))
  return added.size > 0 && cache.state.series + added.size > maxSeriesPerCache
}

/** Drops series that are no longer sent, because there are too many. */
function dropUnsent(
  cache: LiveCache,
  names: readonly string[],
  layouts: Layouts,
  at: number,
): void {
  const { columns } = cache.layout
  const kept = [...new Set(names)].filter((name) => columns.has(name))
  cache.layout = layouts.of(kept)
  keepSeries(
    cache.state,
    kept.map((name) => columns.get(name) ?? -1),
  )
  cache.tidiedAt = at
  cache.checkpointAt = 0
}

/** Appends new series to the layout. */
function fitLayout(cache: LiveCache, names: readonly string[], room: Room): void {
  const { state, layout } = cache
  const added = [...new Set(names)].filter((name) => !layout.columns.has(name))
  const left = Math.max(0, Math.min(maxSeriesPerCache, room.series) - state.series)
  const taken = added.filter((name) => room.takesFigures || !isFigure(name)).slice(0, left)
  if (taken.length > 0) {
    cache.layout = room.layouts.extend(layout, taken)
    widenSeries(state, cache.layout.names.length)
    // The layout of a cache is saved with its checkpoint.
    cache.checkpointAt = 0
  }
  const columns = Int32Array.from(names, (name) => cache.layout.columns.get(name) ?? -1)
  cache.sent = { names, columns }
}

/** The rows and checkpoint to commit; `changed` is undefined if no checkpoint is due. */
export async function readUnwritten(
  cache: LiveCache,
  layouts: Layouts,
): Promise<{ readonly rows: readonly StoredRow[]; readonly changed: ChangedCache | undefined }> {
  const { agentId, state, layout } = cache
  const open = readOpenRow(state)
  const unwritten = open ? [...cache.finished, { ...open, layout }] : cache.finished
  const rows: StoredRow[] = []
  for (const row of unwritten) rows.push(toStored(cache, row, await layouts.readId(row.layout)))
  if (!cache.isLeaving && state.folded < cache.checkpointAt) return { rows, changed: undefined }
  const checkpoint = encodeCheckpoint(state)
  cache.checkpointAt = nextCheckpoint(cache)
  return { rows, changed: { agentId, layout: await layouts.readId(layout), checkpoint } }
}

function nextCheckpoint({ agentId, state }: LiveCache): number {
  return state.folded + checkpointSteps - ((state.folded + agentId) % checkpointSteps)
}

export function toStored(cache: LiveCache, row: FinishedRow, layout: number): StoredRow {
  const { archive, endsAt, spanMs, knownUntil, columns } = row
  const slot = slotOf(cache.state.grid, archive, endsAt)
  const bytes = encodeColumns(columns)
  return { agentId: cache.agentId, archive, slot, endsAt, spanMs, knownUntil, layout, bytes }
}
