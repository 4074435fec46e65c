/** Computes what an entry covers on one agent, so that no caller invalidates objects of others (docs/behaviour.md, Coverage). */
import { rootHolder, type Coverage } from './invalidation.js'
import { findHolder, type HeldName } from './purge-url.js'

/** A group on an agent that the entry may affect: of its organization, and of its target if that names groups. */
export interface TouchableGroup {
  readonly groupId: number
  /** Its VCL is the cache's whole VCL: no other group is on that agent, and its objects are not marked. */
  readonly isRoot: boolean
}

/** `isNarrowed` is true for an organization's entry, and for one that names groups or domains. */
export function banCoverage(isNarrowed: boolean, groups: readonly TouchableGroup[]): Coverage {
  if (!isNarrowed || groups.some(({ isRoot }) => isRoot)) return { groups: null }
  return { groups: [...new Set(groups.map(({ groupId }) => groupId))].toSorted((a, b) => a - b) }
}

/**
 * For a cache that belongs to one group alone: the whole cache, even before the first deploy; nothing if another group is
 * placed there. `groups` are all groups placed there.
 */
export function memberCoverage(groupId: number, groups: readonly TouchableGroup[]): Coverage {
  return { groups: groups.every((group) => group.groupId === groupId) ? null : [] }
}

/** `held` are all names on that agent, of all groups: the purge goes to the group that serves the host, or to none. */
export function purgeCoverage(
  hosts: readonly string[],
  groups: readonly TouchableGroup[],
  held: readonly HeldName[],
): Coverage {
  if (groups.some(({ isRoot }) => isRoot)) return { holders: hosts.map(() => rootHolder) }
  const touchable = new Set(groups.map(({ groupId }) => groupId))
  return {
    holders: hosts.map((host) => {
      const holder = findHolder(host, held)
      return holder !== null && touchable.has(holder) ? holder : null
    }),
  }
}
