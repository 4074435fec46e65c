/** The rows of a list as events change them: values in, values out. */
import type { LiveEvent } from './live-event.js'

export interface Row {
  readonly id: number
}

/**
 * Puts whole objects in their places. Null: the rows are not known any more, the list has to be read again. `isWhole`:
 * events of this list carry what the list itself would.
 */
export function applyEvents<T extends Row>(
  rows: readonly T[],
  events: readonly LiveEvent[],
  isWhole: boolean,
): readonly T[] | null {
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const { type, data } of events) {
    if (type === 'reset') return null
    if (data.deleted === true) byId.delete(data.id)
    else if (isWhole)
      byId.set(data.id, data as unknown as T) // the same shape, by what isWhole says
    else return null
  }
  return [...byId.values()]
}

/** At most so many: the first, or the newest where the list begins with these. */
export function keepRows<T extends Row>(
  rows: readonly T[],
  most: number,
  isNewestFirst: boolean,
): readonly T[] {
  if (rows.length <= most) return rows
  return (isNewestFirst ? rows.toSorted((one, other) => other.id - one.id) : rows).slice(0, most)
}
