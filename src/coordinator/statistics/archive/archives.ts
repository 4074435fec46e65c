/**
 * The sixteen archives of a cache: archive i folds F(i) steps into a row; each term of F is the sum of the previous two
 * (docs/behaviour.md, Statistics). Rows are aligned to multiples of their own span since 1970, so the rows of all caches
 * have the same times.
 */

/** docs/behaviour.md, Statistics. */
export const maxArchives = 16

/** F(i) = 1, 2, 3, 5, 8 … 1597. */
export const stepsPerRow: readonly number[] = takeFibonacci(maxArchives)

/** Rows per archive (docs/behaviour.md, Statistics). */
export const defaultRows = 600

/** The layout of the archives; the same for all caches of a coordinator. */
export interface Grid {
  /** The interval between samples, and the span of a row of the finest archive. */
  readonly stepMs: number
  /** The number of rows in each archive; a new row overwrites the oldest. */
  readonly rows: number
  /** How many archives are kept, counted from the finest. */
  readonly archives: number
}

export function spanOf({ stepMs }: Grid, archive: number): number {
  return stepMs * (stepsPerRow[archive] ?? Number.NaN)
}

/** The slot of the row that ends at this time. */
export function slotOf(grid: Grid, archive: number, endsAt: number): number {
  return (Math.round(endsAt / spanOf(grid, archive)) - 1) % grid.rows
}

/**
 * The finest archive that still covers the whole range, else the coarsest. `maxRows` limits the rows read: a long range of
 * many caches is read from a coarser archive.
 */
export function chooseArchive(
  grid: Grid,
  range: { readonly startMs: number; readonly endMs: number; readonly nowMs: number },
  maxRows = grid.rows,
): number {
  const { startMs, endMs, nowMs } = range
  const found = stepsPerRow.slice(0, grid.archives).findIndex((_, archive) => {
    const span = spanOf(grid, archive)
    // One slot belongs to the open row.
    return nowMs - startMs <= (grid.rows - 1) * span && (endMs - startMs) / span <= maxRows
  })
  return found < 0 ? grid.archives - 1 : found
}

/** The slots (inclusive) of the rows that end in a range: two ranges if it wraps around the end of the ring. */
export function slotRanges(
  grid: Grid,
  archive: number,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): readonly (readonly [from: number, to: number])[] {
  const span = spanOf(grid, archive)
  const first = Math.max(1, Math.ceil(startMs / span))
  const last = Math.floor(endMs / span)
  if (last < first) return []
  if (last - first >= grid.rows - 1) return [[0, grid.rows - 1]]
  const from = slotOf(grid, archive, first * span)
  const to = slotOf(grid, archive, last * span)
  return from <= to
    ? [[from, to]]
    : [
        [from, grid.rows - 1],
        [0, to],
      ]
}

function takeFibonacci(count: number): number[] {
  const terms = [1, 2]
  while (terms.length < count) terms.push((terms.at(-1) ?? 0) + (terms.at(-2) ?? 0))
  return terms
}
