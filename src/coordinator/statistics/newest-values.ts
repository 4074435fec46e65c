/** Current values: events per second and levels from the newest rows, summed over some caches or per cache. */
import { findMemoryCounters, resolveCounter } from '../../resources/counters.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { StateService } from '../service.js'
import { askGroupCaches, askVisibleCaches } from './asked-caches.js'
import { findFigures } from './find-figures.js'

interface NewestValues {
  /** Seconds since 1970; null: no cache has a recent row. */
  readonly time: number | null
  /** The number of caches with a recent row. */
  readonly agents: number
  readonly stats: readonly { readonly counter: string; readonly value: number }[]
}

/** Summed over the caches of a group, including the figures of the group and its domains. */
export async function readNewestValues(
  service: StateService,
  actor: Actor,
  groupId: number,
): Promise<NewestValues> {
  const groups = new Set([groupId])
  const asked = await askGroupCaches(service, actor, [groupId])
  const caches = asked.map((cache) => ({ ...cache, groups }))
  const newest = await service.statistics.readNewest({ caches, nowMs: service.now() })
  return {
    time: newest.endsAt === null ? null : newest.endsAt / 1000,
    agents: newest.caches,
    stats: newest.values.map(([name, value]) => ({ counter: showName(name), value })),
  }
}

/** Removes the group from the name of a domain's figure. */
function showName(name: string): string {
  return name.replace(/^DOMAIN\.\d+:/, 'DOMAIN.')
}

interface CacheValues {
  readonly id: number
  /** Seconds since 1970. */
  readonly time: number
  /** In the order of the names; null: unknown. */
  readonly values: readonly (number | null)[]
}

/** Enough for a table of caches; a request for one cache or one group allows more. */
const maxCounters = 10
/** The archive has single precision: further digits are noise. */
const digits = 7

/**
 * The newest values of each visible cache with a recent row, by id. Throws FleetError: invalid for too many names, not-found
 * for a name that no counter can have, unavailable.
 */
export async function readNewestOfEach(
  service: StateService,
  actor: Actor,
  counters: readonly string[],
): Promise<readonly CacheValues[]> {
  const names = requireNames(counters)
  const caches = await askVisibleCaches(service, actor)
  const { groups } = await findFigures(service, actor, names)
  const newest = await service.statistics.readNewestEach({
    caches: groups.size > 0 ? caches.map((cache) => ({ ...cache, groups })) : caches,
    names,
    alternatives: findMemoryCounters(names),
    nowMs: service.now(),
  })
  return Array.from(newest.agentIds, (id, at) => ({
    id,
    time: (newest.endsAt[at] ?? 0) / 1000,
    values: Array.from(newest.values.subarray(at * names.length, (at + 1) * names.length), toShown),
  }))
}

function requireNames(counters: readonly string[]): readonly string[] {
  if (counters.length > maxCounters)
    throw new FleetError(
      'invalid',
      'agent',
      `counters: ${counters.length} are too many for all caches at once; ${maxCounters} is the most`,
    )
  return counters.map((counter) => {
    const name = resolveCounter(counter)
    if (name !== null) return name
    throw new FleetError('not-found', 'agent', `counter ${counter.slice(0, 100)} was not found`)
  })
}

function toShown(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(digits))
}
