/** How the list of caches is sorted, as in the address, and the rates that it may be sorted by: values in, values out. */
import type { NewestStats } from '../../api/newest-stats.js'
import type { Sorting } from '../../parts/visible-rows.js'

export interface Rates {
  /** A second. */
  readonly requests: number | null
  /** 0 to 1; null also where nothing was looked up. */
  readonly hitRatio: number | null
}

/** In the order of the call. */
export const countersOfRates = ['client_req', 'cache_hit', 'cache_miss'] as const

/** By the state, what is ill first. */
export const worstFirst: Sorting = { title: 'State', isDescending: false }

/** A column's title, with a minus before it when the highest is first. The worst first unless it is a column. */
export function readSorting(word: string, titles: readonly string[]): Sorting {
  const isDescending = word.startsWith('-')
  const title = isDescending ? word.slice(1) : word
  return titles.includes(title) ? { title, isDescending } : worstFirst
}

/** The worst first needs no word. */
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
