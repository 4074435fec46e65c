/** Properties of the agents and places of a generated world, computed without the placement code. */
import { indexAgents, type PlacementAgent } from '../../../src/coordinator/fleet/agent-index.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import type { PlacementDecision } from '../../../src/coordinator/placement/placement.js'
import type { Place, PlacementInput } from '../../../src/coordinator/fleet/placement-input.js'
import type { PlacementTarget } from '../../../src/coordinator/fleet/placement-target.js'
import type { PlacementWorld } from '../../support/arbitraries.js'

export const runs = { numRuns: 3000 }

export function toInput({ group, agents, placed }: PlacementWorld): PlacementInput {
  return { group, placed, agents: indexAgents(agents) }
}

export const agentIds = (places: readonly Place[]): number[] => places.map((place) => place.agentId)
export const chosenOf = ({ keep, add }: PlacementDecision): Place[] => [...keep, ...add]

export function isAskedFor(world: PlacementWorld, { agentId, deploymentId }: Place): boolean {
  const agent = world.agents.find(({ id }) => id === agentId)
  const target = world.group.deployments.find(({ id }) => id === deploymentId)?.target
  return target?.kind === 'members'
    ? target.agentIds.has(agentId)
    : target?.tagIds.every((tagId) => agent?.tagIds.includes(tagId)) === true
}

export function withTags(...tagIds: readonly number[]): PlacementTarget {
  return { kind: 'tags', tagIds }
}

export function agentsOf(world: PlacementWorld, places: readonly Place[]): PlacementAgent[] {
  const ids = agentIds(places)
  return world.agents.filter(({ id }) => ids.includes(id))
}

/** Whether the cache has a release that the group is for; where its release is unknown, the group may stay but not come. */
function isOfItsReleases(
  { group }: PlacementWorld,
  { release, groupIds }: PlacementAgent,
): boolean {
  if (!group.releases) return true
  const { product = '', version = '' } = release ?? {}
  if (version === '') return groupIds.includes(group.id)
  return group.releases.some((named) => `${product}-${version}.`.startsWith(`${toWhole(named)}.`))
}

function toWhole(named: string): string {
  return /^\d/.test(named) ? `varnish-${named}` : named
}

/**
 * Whether the agent may hold the group: a root group is alone, a member of another group holds only that one, and the release of the cache
 * is one that the group is for.
 */
export function isFree(world: PlacementWorld, agent: PlacementAgent): boolean {
  const { group } = world
  if (!isOfItsReleases(world, agent)) return false
  if (![null, group.id].includes(agent.memberOf ?? null)) return false
  const others = agent.groupIds.filter((id) => id !== group.id)
  const isTaken = agent.rootGroupId !== null && agent.rootGroupId !== group.id
  return !isTaken && !(group.root && others.length > 0)
}

/** Whether the agent could hold the group now, whether or not it does. */
export function isUsable(world: PlacementWorld, agent: PlacementAgent): boolean {
  return agent.state === agentStates.Running && isFree(world, agent)
}
