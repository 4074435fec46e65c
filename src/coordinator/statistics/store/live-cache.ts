/** A cache whose samples come here: its open rows, and what is finished and not yet written. */
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
  /** Whose agent it was when its last sample came; null: the system administrator's, or none came yet. */
  organizationId: number | null
  readonly state: CacheState
  layout: Layout
  /** Finished, not written. */
  finished: FinishedRow[]
  /** Of the finest archive, written or not; null: none was finished here. */
  newest: FinishedRow | null
  /** Of the names that came last: the column of each; -1: it is not kept. */
  sent: { readonly names: readonly string[]; readonly columns: Int32Array } | null
  hasNew: boolean
  checkpointAt: number
  /** When series were dropped that are not sent any more; null: never. */
  tidiedAt: number | null
  /** Its link ended: it goes when all is written. */
  isLeaving: boolean
}

export interface FinishedRow extends Row {
  readonly layout: Layout
}

/** A cache has about 40 series, a few for each backend, and at most 26 of each of 140 groups and domains. */
export const seriesPerCacheMost = 4_000
/** The shortest interval between removing unused names: an agent that always sends new names cannot fill the table. */
const tidyEveryMs = 86_400_000
/** The most steps folded again after a restart; it differs per cache, so that not all are saved at once. */
const checkpointSteps = 64

export function createLiveCache(agentId: number, grid: Grid): LiveCache {
  return wrapState(agentId, createCacheState(grid, 0), emptyLayout)
}

/** Undefined when what was saved does not fit: then it begins anew. */
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

/** Where it finds its place, and how much the other caches leave it. */
interface Room {
  readonly layouts: Layouts
  /** How many series it may have. */
  readonly series: number
  /** Whether it may begin more series of figures: counters go before them. */
  readonly takesFigures: boolean
  /** How many finished rows may wait to be written; then the oldest go. */
  readonly unwritten: number
}

/** Of one sample at a time: its values by column. */
const scratch = new Float64Array(seriesPerCacheMost)

/** Answers how many series are refused, when that is new. */
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
  return added.size > 0 && cache.state.series + added.size > seriesPerCacheMost
}

/** There are too many: those that are not sent any more go. */
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

/** Series that are new stand behind the others. */
function fitLayout(cache: LiveCache, names: readonly string[], room: Room): void {
  const { state, layout } = cache
  const added = [...new Set(names)].filter((name) => !layout.columns.has(name))
  const left = Math.max(0, Math.min(seriesPerCacheMost, room.series) - state.series)
  const taken = added.filter((name) => room.takesFigures || !isFigure(name)).slice(0, left)
  if (taken.length > 0) {
    cache.layout = room.layouts.extend(layout, taken)
    widenSeries(state, cache.layout.names.length)
    // Which layout a cache has is saved with its checkpoint.
    cache.checkpointAt = 0
  }
  const columns = Int32Array.from(names, (name) => cache.layout.columns.get(name) ?? -1)
  cache.sent = { names, columns }
}

/** What a commit writes of it, and undefined for a checkpoint that is not due. */
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
