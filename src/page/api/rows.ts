/** The rows of a list as events change them: values in, values out. */
import type { LiveEvent } from './live-event.js'

export interface Row {
  readonly id: number
}

/**
 * Puts whole objects in their places. Null: the rows are not known any more, the list has to be read again. `isWhole`:
 * events are of this list's own objects and carry what the list itself would; otherwise even an id may be another object's.
 */
export function applyEvents<T extends Row>(
  rows: readonly T[],
  events: readonly LiveEvent[],
  isWhole: boolean,
): readonly T[] | null {
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const { type, data } of events) {
    if (type === 'reset' || !isWhole) return null
    if (data.deleted === true) byId.delete(data.id)
    else byId.set(data.id, data as unknown as T) // the same shape, by what isWhole says
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
