/** The selected rows of a long table; pure functions. */

type Id = number | string

/** Selects (`isOn`) or deselects the rows from one index to the other, in the order of `ids`. */
export function setRange<T extends Id>(
  chosen: ReadonlySet<T>,
  ids: readonly T[],
  { from, to, isOn }: { readonly from: number; readonly to: number; readonly isOn: boolean },
): ReadonlySet<T> {
  const next = new Set(chosen)
  for (const id of ids.slice(Math.min(from, to), Math.max(from, to) + 1))
    if (isOn) next.add(id)
    else next.delete(id)
  return next
}

/** Returns whether all, some or none of the rows are selected. */
export function judgeSelection<T extends Id>(
  chosen: ReadonlySet<T>,
  ids: readonly T[],
): 'all' | 'some' | 'none' {
  if (chosen.size === 0 || ids.length === 0) return 'none'
  const count = ids.reduce((sum, id) => sum + (chosen.has(id) ? 1 : 0), 0)
  if (count === 0) return 'none'
  return count === ids.length ? 'all' : 'some'
}

/** Drops ids that no longer exist; returns the same set if all still do. */
export function keepKnown<T extends Id>(
  chosen: ReadonlySet<T>,
  known: ReadonlySet<T>,
): ReadonlySet<T> {
  const kept = [...chosen].filter((id) => known.has(id))
  return kept.length === chosen.size ? chosen : new Set(kept)
}
