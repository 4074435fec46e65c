/** Sorting, windowing and keyboard movement of a long table; pure functions. */

export type SortValue = string | number | null

export interface Sorting {
  /** Title of the column. */
  readonly title: string
  readonly isDescending: boolean
}

interface Sortable<T> {
  readonly title: string
  readonly sortBy?: (row: T) => SortValue
}

/** Pixels; the same as in table.css. */
export const rowHeights = { plain: 44, dense: 32 } as const
/** Rendered above and below the visible rows, for fast scrolling. */
const spareRows = 12

const collator = new Intl.Collator(undefined, { numeric: true })

/** Sorts `edge-2` before `edge-10`; rows without a value are last in both directions. */
export function sortRows<T>(
  rows: readonly T[],
  columns: readonly Sortable<T>[],
  sorting: Sorting | null,
): readonly T[] {
  const sortBy = columns.find(({ title }) => title === sorting?.title)?.sortBy
  if (!sortBy || !sorting) return rows
  const direction = sorting.isDescending ? -1 : 1
  const keyed = rows.map((row) => ({ row, key: sortBy(row) }))
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null)
    return direction * compare(a.key, b.key)
  })
  return keyed.map(({ row }) => row)
}

function compare(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : collator.compare(String(a), String(b))
}

/** From the first rendered row to the one after the last. */
export function findWindow(
  rows: number,
  firstVisible: number,
  visibleCount: number,
): { readonly from: number; readonly to: number } {
  const first = Math.min(firstVisible, Math.max(0, rows - visibleCount))
  return {
    from: Math.max(0, first - spareRows),
    to: Math.min(rows, first + visibleCount + spareRows),
  }
}

/** Null: the key does not move the focus. */
export function nextActive(
  key: string,
  active: number | null,
  rows: number,
  visibleCount: number,
): number | null {
  const page = Math.max(1, visibleCount - 2)
  const now = active ?? -1
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: now + 1,
    ArrowUp: now - 1,
    PageDown: now + page,
    PageUp: now - page,
    Home: 0,
    End: rows - 1,
  }
  const target = targets[key]
  if (target === undefined || rows === 0) return null
  return Math.min(rows - 1, Math.max(0, target))
}
