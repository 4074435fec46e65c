/** The sort order of the list of caches, as in the URL, and the rates to sort by. Pure functions. */
import type { NewestStats } from '../../api/newest-stats.js'
import type { Sorting } from '../../parts/visible-rows.js'

export interface Rates {
  /** Per second. */
  readonly requests: number | null
  /** 0 to 1; null also if there were no lookups. */
  readonly hitRatio: number | null
}

/** In the order of the call. */
export const countersOfRates = ['client_req', 'cache_hit', 'cache_miss'] as const

/** By state, worst first. */
export const worstFirst: Sorting = { title: 'State', isDescending: false }

/** Parses a column's title, prefixed with a minus for descending order. Worst first if it is not a column. */
export function readSorting(word: string, titles: readonly string[]): Sorting {
  const isDescending = word.startsWith('-')
  const title = isDescending ? word.slice(1) : word
  return titles.includes(title) ? { title, isDescending } : worstFirst
}

/** Worst first is the default and needs no word. */
export function formatSorting({ title, isDescending }: Sorting): string {
  if (isDescending) return `-${title}`
  return title === worstFirst.title ? '' : title
}

export function toRates({ agents }: NewestStats): ReadonlyMap<number, Rates> {
  return new Map(
    agents.map(({ id, values: [requests = null, hits = null, misses = null] }) => [
      id,
      { requests, hitRatio: toShare(hits, misses) },
    ]),
  )
}

export function toShare(hits: number | null, misses: number | null): number | null {
  return hits === null || misses === null || hits + misses <= 0 ? null : hits / (hits + misses)
}
