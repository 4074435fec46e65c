/** What an entry covers on one agent, so that nobody empties what is another's (docs/behaviour.md, Coverage). */
import { rootHolder, type Coverage } from './invalidation.js'
import { findHolder, type HeldName } from './purge-url.js'

/** A group on an agent that the entry may touch: of its organization, and of its target where that names groups. */
export interface TouchableGroup {
  readonly groupId: number
  /** Its VCL is the cache's whole VCL: nothing else is on that agent, and its objects bear no mark. */
  readonly isRoot: boolean
}

/** `isNarrowed`: an organization's entry, or one that names groups or domains. */
export function banCoverage(isNarrowed: boolean, groups: readonly TouchableGroup[]): Coverage {
  if (!isNarrowed || groups.some(({ isRoot }) => isRoot)) return { groups: null }
  return { groups: [...new Set(groups.map(({ groupId }) => groupId))].toSorted((a, b) => a - b) }
}

/**
 * On a cache that is named for a group, which has it alone: all of it, also before anything is deployed there; nothing where
 * another group stands. `groups`: all that stand there.
 */
export function memberCoverage(groupId: number, groups: readonly TouchableGroup[]): Coverage {
  return { groups: groups.every((group) => group.groupId === groupId) ? null : [] }
}

/** `held`: all names on that agent, of whatever group: the one that answers is asked, or nobody. */
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
