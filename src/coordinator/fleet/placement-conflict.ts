/**
 * Conflicts of a group with others on an agent: a root group must be alone there, and a domain may exist there only once.
 * A replacing deploy has no conflict with the groups whose placements it may take over.
 */
import { isOfReleases, titleOfRelease, unknownRelease } from '../../resources/cache-release.js'
import type { IndexedAgent } from './agent-index.js'
import type { PlacementGroup, PlacementInput } from './placement-input.js'

export interface Conflict {
  /** The group or stage that holds the agent; null: unusable although no group holds it. */
  readonly holder: number | null
  readonly reason: string
  /** No group is in the way: its cache has another release, or is drained. */
  readonly isUnavailable?: true
}

/** Returns why an agent cannot hold this group at all; null if it can. Does not check its tags. */
export function findConflict(input: PlacementInput, agent: IndexedAgent): string | null {
  return describeConflict(input, agent)?.reason ?? null
}

export function describeConflict(input: PlacementInput, agent: IndexedAgent): Conflict | null {
  const { group } = input
  if (!mayRun(group, agent)) return { ...describeRelease(group, agent), isUnavailable: true }
  const closed = describeClosed(agent)
  if (closed !== null && !agent.groupIds.has(group.id)) return closed
  if (typeof agent.memberOf === 'number' && agent.memberOf !== group.id)
    return { holder: null, reason: 'it is in a group of the console' }
  if (group.apartFrom !== undefined && agent.groupIds.has(group.apartFrom))
    return { holder: group.apartFrom, reason: 'the group itself is placed there' }
  const obstacle = findObstacle(group, agent)
  if (obstacle === null) return null
  const { holder, what } = obstacle
  const named = input.nameOf?.(holder)
  const name = named === undefined ? '' : `: ${JSON.stringify(named)}`
  return { holder, reason: nameOwnOther(group, holder) ?? `${what}${name}` }
}

/** Returns why it accepts no new group at all. */
function describeClosed({ adopting, draining }: IndexedAgent): Conflict | null {
  if (adopting === true)
    return { holder: null, reason: 'what its cache runs is to be adopted first' }
  return draining === true ? { holder: null, reason: 'it is drained', isUnavailable: true } : null
}

/** A cache not reached since its agent started may still have its old release: groups placed there stay. */
function mayRun(
  { id, releases = null }: PlacementGroup,
  { release = unknownRelease, groupIds }: IndexedAgent,
): boolean {
  return isOfReleases(release, releases) || (release.version === '' && groupIds.has(id))
}

function describeRelease(
  { releases }: PlacementGroup,
  { release = unknownRelease }: IndexedAgent,
): Conflict {
  const title = titleOfRelease(release)
  const wanted = `the group is for the releases ${releases?.join(', ') ?? ''}`
  const reason = title === null ? 'its release is not known' : `its release is ${title}`
  return { holder: null, reason: `${reason}, and ${wanted}` }
}

/** The holders (`holderId`) whose placements the group would take over on its agent, sorted. */
export function findReplaced(group: PlacementGroup, agent: IndexedAgent): number[] {
  const { replaces } = group
  if (replaces === undefined) return []
  const standing = group.root ? [...agent.groupIds] : []
  if (agent.rootGroupId !== null) standing.push(agent.rootGroupId)
  for (const fqdn of group.fqdns ?? []) standing.push(agent.domains.get(fqdn) ?? group.id)
  const taken = standing.filter((holder) => holder !== group.id && replaces.has(holder))
  return [...new Set(taken)].toSorted((a, b) => a - b)
}

interface Obstacle {
  readonly holder: number
  readonly what: string
}

/** Runs for each agent of a fleet: allocates nothing for a free agent. */
function findObstacle(group: PlacementGroup, agent: IndexedAgent): Obstacle | null {
  const root = agent.rootGroupId
  if (root !== null && isInTheWay(group, agent, root))
    return { holder: root, what: 'a root group is placed there' }
  if (group.root)
    for (const holder of agent.groupIds)
      if (isInTheWay(group, agent, holder))
        return { holder, what: 'other groups are placed there, and a root group must be alone' }
  for (const fqdn of group.fqdns ?? []) {
    const holder = agent.domains.get(fqdn)
    if (holder !== undefined && isInTheWay(group, agent, holder))
      return { holder, what: 'another group has one of the domains there' }
  }
  return null
}

function isInTheWay(
  { id, supersedes, replaces }: PlacementGroup,
  { replacedBy }: IndexedAgent,
  holder: number,
): boolean {
  if (holder === id || holder === supersedes) return false
  return replaces?.has(holder) !== true && replacedBy?.get(holder) !== id
}

/** A group and its stage conflict with each other (`holderId`). */
function nameOwnOther({ id }: PlacementGroup, holder: number): string | null {
  if (holder !== -id) return null
  return holder < 0 ? 'the stage of the group is placed there' : 'the group itself is placed there'
}
