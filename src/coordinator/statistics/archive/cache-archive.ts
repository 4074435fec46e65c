/**
 * All archives of one cache: samples in, finished rows out. The rows are the same whether samples arrive one by one or many at
 * once, before or after a restart.
 */
import { spanOf, stepsPerRow, type Grid } from './archives.js'
import {
  clearRow,
  closeRow,
  foldStep,
  makeOpenRows,
  pickSeries,
  readIndex,
  type OpenRows,
} from './fold.js'
import { addToStep, closeStep, openStep, pickStep, reopenStep, type OpenStep } from './open-step.js'
import type { Columns, Row } from './row.js'

export interface CacheState {
  readonly grid: Grid
  series: number
  /** When the newest sample was taken; null: no sample yet. */
  last: number | null
  /** Steps below this index have been folded into the open rows. */
  folded: number
  step: OpenStep | null
  /** The previous step, whose memory is reused. */
  spent: OpenStep | null
  /** The open rows of the second and all coarser archives. */
  open: OpenRows
}

/** Rates without a span of their own cover at most this many steps back to the previous sample. */
const gapSteps = 1.5
/** A mean over more than a minute (or six intervals, if longer) is no evidence for a single interval. */
const spanMostMs = 60_000
const spanSteps = 6
/** A sample older than the newest by at most this is late; by more, the clock was set back. */
const setBackMs = 60_000

export function createCacheState(grid: Grid, series: number): CacheState {
  const rows = stepsPerRow.slice(1, grid.archives).length
  const open = makeOpenRows(rows, series)
  return { grid, series, last: null, folded: 0, step: null, spent: null, open }
}

export interface Sample {
  readonly at: number
  /** The length of the time before `at` that it covers; null: unknown. */
  readonly spanMs: number | null
  /** One number per series: a rate or a level; NaN: unknown. */
  readonly values: Float64Array
}

/** Returns the rows that this sample completes. A duplicate or older sample changes nothing. */
export function addSample(state: CacheState, { at, spanMs, values }: Sample): readonly Row[] {
  const { stepMs } = state.grid
  if (state.last !== null && at <= state.last) {
    if (state.last - at <= setBackMs) return []
    beginAnew(state)
  }
  const from = findBegin(state, at, spanMs)
  const finished: Row[] = []
  for (let index = Math.floor(from / stepMs); index * stepMs < at; index++) {
    if (state.step?.index !== index) {
      finishStep(state, finished)
      state.step = openStep(index, state.series, state.spent)
      state.spent = null
    }
    const begins = Math.max(from, index * stepMs)
    const ends = Math.min(at, (index + 1) * stepMs)
    addToStep(state.step, values, ends - begins)
    if (ends === (index + 1) * stepMs) finishStep(state, finished)
  }
  state.last = at
  return finished
}

/** The start of the time a sample covers: never before the previous sample. */
function findBegin(
  { grid: { stepMs }, last }: CacheState,
  at: number,
  spanMs: number | null,
): number {
  const passedMs = last === null ? Number.POSITIVE_INFINITY : at - last
  if (spanMs !== null && spanMs > 0 && spanMs <= Math.max(spanMostMs, spanSteps * stepMs))
    return at - Math.min(spanMs, passedMs)
  return at - (passedMs <= gapSteps * stepMs ? passedMs : Math.min(stepMs, passedMs))
}

/** The finest archive's row so far: stored, so that a killed coordinator loses little. */
export function readOpenRow({ grid, step, last }: CacheState): Row | undefined {
  const columns = step === null ? undefined : closeStep(step)
  if (step === null || last === null || columns === undefined) return undefined
  const endsAt = (step.index + 1) * grid.stepMs
  return { archive: 0, endsAt, spanMs: grid.stepMs, knownUntil: last, columns }
}

/** Replays a row of the finest archive that was written after the state was. Call in order of time. */
export function replayRow(state: CacheState, { endsAt, knownUntil, columns }: Row): void {
  const index = Math.round(endsAt / state.grid.stepMs) - 1
  if (index < state.folded) return
  state.last = Math.max(state.last ?? 0, Math.min(knownUntil, endsAt))
  if (knownUntil < endsAt) state.step = reopenStep(index, columns)
  // The rows that this completes were written together with the step.
  else foldIntoAll(state, index, columns, [])
  widenStep(state)
}

/** Appends series to the existing ones. */
export function widenSeries(state: CacheState, series: number): void {
  keepSeries(
    state,
    Array.from({ length: series }, (_, column) => (column < state.series ? column : -1)),
  )
}

/** `before`: the previous index of each series from now on; -1: a new series. */
export function keepSeries(state: CacheState, before: readonly number[]): void {
  state.series = before.length
  state.open = pickSeries(state.open, before)
  if (state.step) state.step = pickStep(state.step, before)
}

function finishStep(state: CacheState, finished: Row[]): void {
  const { step, grid } = state
  state.step = null
  state.spent = step
  const columns = step === null ? undefined : closeStep(step)
  if (step === null || columns === undefined) return
  const endsAt = (step.index + 1) * grid.stepMs
  finished.push({ archive: 0, endsAt, spanMs: grid.stepMs, knownUntil: endsAt, columns })
  foldIntoAll(state, step.index, columns, finished)
}

function foldIntoAll(state: CacheState, index: number, columns: Columns, finished: Row[]): void {
  const { open } = state
  const findIndex = (row: number): number => Math.floor(index / (stepsPerRow[row + 1] ?? 1))
  // Rows that end before this step are finished first: the newest value of a series is stored once for all rows.
  for (let row = 0; row < open.rows; row++) {
    const before = readIndex(open, row)
    if (before >= 0 && before !== findIndex(row)) finishRow(state, row, finished)
  }
  for (let row = 0; row < open.rows; row++) {
    foldStep(open, row, findIndex(row), columns)
    if ((index + 1) % (stepsPerRow[row + 1] ?? 1) === 0) finishRow(state, row, finished)
  }
  state.folded = index + 1
}

function finishRow({ grid, open }: CacheState, row: number, finished: Row[]): void {
  const archive = row + 1
  const spanMs = spanOf(grid, archive)
  const endsAt = (readIndex(open, row) + 1) * spanMs
  const columns = closeRow(open, row)
  if (columns) finished.push({ archive, endsAt, spanMs, knownUntil: endsAt, columns })
}

/** Discards the open rows after the clock was set back: they belong to a future time. */
function beginAnew(state: CacheState): void {
  state.last = null
  state.step = null
  state.folded = 0
  for (let row = 0; row < state.open.rows; row++) clearRow(state.open, row)
}

/** Widens a step that was written when there were fewer series. */
function widenStep(state: CacheState): void {
  const { step, series } = state
  if (!step || step.series >= series) return
  const before = Array.from({ length: series }, (_, column) => (column < step.series ? column : -1))
  state.step = pickStep(step, before)
}
