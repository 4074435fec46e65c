/** The agents that a group or its stage targets, whether it can be placed there or not. */
import type { AgentIndex, IndexedAgent } from './agent-index.js'

export type PlacementTarget =
  /** Selected by deployments and stages: an agent must have all of the tags. */
  | { readonly kind: 'tags'; readonly tagIds: readonly number[] }
  /** Named individually in the console. */
  | { readonly kind: 'members'; readonly agentIds: ReadonlySet<number> }

/** Without tags, no agent fits. */
export function isFitting(
  agent: Pick<IndexedAgent, 'id' | 'tagIds'>,
  target: PlacementTarget,
): boolean {
  if (target.kind === 'members') return target.agentIds.has(agent.id)
  return target.tagIds.length > 0 && target.tagIds.every((tagId) => agent.tagIds.has(tagId))
}

/** Unordered. */
export function findFitting(index: AgentIndex, target: PlacementTarget): readonly IndexedAgent[] {
  return findCandidates(index, target).flatMap((slot) => {
    const agent = index.agents[slot]
    return agent && isFitting(agent, target) ? [agent] : []
  })
}

/** The slots of agents that may fit: the members, or the agents with the rarest tag, with or without the other tags. */
export function findCandidates(index: AgentIndex, target: PlacementTarget): readonly number[] {
  if (target.kind === 'members')
    return [...target.agentIds].flatMap((id) => index.byId.get(id)?.slot ?? [])
  const bearers = target.tagIds.map((tagId) => index.byTag.get(tagId) ?? [])
  return bearers.reduce(
    (rarest, next) => (next.length < rarest.length ? next : rarest),
    bearers[0] ?? [],
  )
}
