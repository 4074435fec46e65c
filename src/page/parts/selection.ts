/** Which rows of a long table are chosen: values in, values out. */

type Id = number | string

/** With `isOn` the rows from one to the other, in the order of `ids`, are chosen too; without they are not any more. */
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

/** What all, some or none of the rows are. */
export function judgeSelection<T extends Id>(
  chosen: ReadonlySet<T>,
  ids: readonly T[],
): 'all' | 'some' | 'none' {
  if (chosen.size === 0 || ids.length === 0) return 'none'
  const count = ids.reduce((sum, id) => sum + (chosen.has(id) ? 1 : 0), 0)
  if (count === 0) return 'none'
  return count === ids.length ? 'all' : 'some'
}

/** Those that are still there; the same set where all are. */
export function keepKnown<T extends Id>(
  chosen: ReadonlySet<T>,
  known: ReadonlySet<T>,
): ReadonlySet<T> {
  const kept = [...chosen].filter((id) => known.has(id))
  return kept.length === chosen.size ? chosen : new Set(kept)
}
