/** Applies events to the rows of a list; pure functions. */
import type { LiveEvent } from './live-event.js'

export interface Row {
  readonly id: number
}

/**
 * Applies events that carry complete objects. Null: the rows are out of date and the list must be read again. `isWhole`: events
 * are of this list's own objects, in its shape; otherwise an id may be that of another kind of object.
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
    else byId.set(data.id, data as unknown as T) // the same shape, as `isWhole` promises
  }
  return [...byId.values()]
}

/** Keeps at most `most` rows: the first ones, or the newest ones if the list starts with these. */
export function keepRows<T extends Row>(
  rows: readonly T[],
  most: number,
  isNewestFirst: boolean,
): readonly T[] {
  if (rows.length <= most) return rows
  return (isNewestFirst ? rows.toSorted((one, other) => other.id - one.id) : rows).slice(0, most)
}
