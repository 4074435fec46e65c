/** Which agents a group, or its stage, is for, whether it can be placed there or not. */
import type { AgentIndex, IndexedAgent } from './agent-index.js'

export type PlacementTarget =
  /** As deployments and stages ask for them: all of the tags are needed. */
  | { readonly kind: 'tags'; readonly tagIds: readonly number[] }
  /** Named one by one, in the console. */
  | { readonly kind: 'members'; readonly agentIds: ReadonlySet<number> }

/** Who is asked for by no tag is nobody. */
export function isFitting(
  agent: Pick<IndexedAgent, 'id' | 'tagIds'>,
  target: PlacementTarget,
): boolean {
  if (target.kind === 'members') return target.agentIds.has(agent.id)
  return target.tagIds.length > 0 && target.tagIds.every((tagId) => agent.tagIds.has(tagId))
}

/** In no order. */
export function findFitting(index: AgentIndex, target: PlacementTarget): readonly IndexedAgent[] {
  return findCandidates(index, target).flatMap((slot) => {
    const agent = index.agents[slot]
    return agent && isFitting(agent, target) ? [agent] : []
  })
}

/** The slots of those that may fit: the members, or who has the rarest of the tags, whether it has the others or not. */
export function findCandidates(index: AgentIndex, target: PlacementTarget): readonly number[] {
  if (target.kind === 'members')
    return [...target.agentIds].flatMap((id) => index.byId.get(id)?.slot ?? [])
  const bearers = target.tagIds.map((tagId) => index.byTag.get(tagId) ?? [])
  return bearers.reduce(
    (rarest, next) => (next.length < rarest.length ? next : rarest),
    bearers[0] ?? [],
  )
}
