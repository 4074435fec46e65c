/** Counts the series kept in total and per organization: organizations share the archive's capacity. */
import { findFairRoom } from '../../../resources/quota.js'
import type { LiveCache } from './live-cache.js'

type CountedCache = Pick<LiveCache, 'organizationId'> & {
  readonly state: Pick<LiveCache['state'], 'series'>
}

interface KeptSeries {
  total(): number
  /** How many series a cache of this organization may add; null: the system administrator, who has no share. */
  findRoom(maxSeries: number, organizationId: number | null): number
  add(organizationId: number | null, series: number): void
}

export function countSeries(caches: Iterable<CountedCache>): KeptSeries {
  const held = new Map<number | null, number>()
  let total = 0
  const add: KeptSeries['add'] = (organizationId, series) => {
    total += series
    held.set(organizationId, (held.get(organizationId) ?? 0) + series)
  }
  for (const { organizationId, state } of caches) add(organizationId, state.series)
  return {
    total: () => total,
    findRoom: (maxSeries, organizationId) =>
      organizationId === null
        ? Math.max(0, maxSeries - total)
        : findFairRoom({
            total: maxSeries,
            used: total,
            held: held.get(organizationId) ?? 0,
          }),
    add,
  }
}
