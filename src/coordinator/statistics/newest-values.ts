/** What caches count now: events per second and levels of the newest rows, summed over some caches or of each. */
import { findMemoryCounters, resolveCounter } from '../../resources/counters.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { StateService } from '../service.js'
import { askGroupCaches, askVisibleCaches } from './asked-caches.js'
import { findFigures } from './find-figures.js'

interface NewestValues {
  /** Seconds since 1970; null: no cache was heard lately. */
  readonly time: number | null
  /** The caches that were heard. */
  readonly agents: number
  readonly stats: readonly { readonly counter: string; readonly value: number }[]
}

/** Summed over the caches of a group; of figures its own, and those of its domains. */
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

/** Of a domain whichever group answers. */
function showName(name: string): string {
  return name.replace(/^DOMAIN\.\d+:/, 'DOMAIN.')
}

interface CacheValues {
  readonly id: number
  /** Seconds since 1970. */
  readonly time: number
  /** In the order of the names; null: not known. */
  readonly values: readonly (number | null)[]
}

/** Enough for a table of caches; one cache or one group may be asked for more. */
const countersMost = 10
/** The archive holds single precision: what is behind it is noise. */
const digits = 7

/**
 * Of each cache that the caller may see and that was heard lately, by id. Throws FleetError: invalid for too many names,
 * not-found for one that no counter can have, unavailable.
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
  if (counters.length > countersMost)
    throw new FleetError(
      'invalid',
      'agent',
      `counters: ${counters.length} are too many for all caches at once; ${countersMost} is the most`,
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
