/**
 * Agents as placement looks at them, found by tag: a pass over many groups reads each group's own agents only.
 * `recordPlacement` keeps it true while such a pass goes on, so that later groups see what earlier ones took.
 */
import type { AgentState } from './agent-state.js'

export interface PlacementAgent {
  readonly id: number
  readonly state: AgentState
  /** Static and assigned ones. */
  readonly tagIds: readonly number[]
  /** Every group that is placed there. */
  readonly groupIds: readonly number[]
  /** The one of them that is a root group. */
  readonly rootGroupId: number | null
}

export interface IndexedAgent {
  readonly id: number
  readonly state: AgentState
  readonly tagIds: ReadonlySet<number>
  readonly groupIds: Set<number>
  rootGroupId: number | null
}

export interface AgentIndex {
  readonly byId: ReadonlyMap<number, IndexedAgent>
  readonly byTag: ReadonlyMap<number, readonly IndexedAgent[]>
}

export function indexAgents(agents: Iterable<PlacementAgent>): AgentIndex {
  const byId = new Map<number, IndexedAgent>()
  const byTag = new Map<number, IndexedAgent[]>()
  for (const agent of agents) {
    const tagIds = new Set(agent.tagIds)
    const indexed = { ...agent, tagIds, groupIds: new Set(agent.groupIds) }
    byId.set(agent.id, indexed)
    for (const tagId of tagIds) {
      const bearers = byTag.get(tagId)
      if (bearers) bearers.push(indexed)
      else byTag.set(tagId, [indexed])
    }
  }
  return { byId, byTag }
}

/** Those that have all of the tags, in no order; none without a tag (choices: 3, Placement). */
export function findFitting(index: AgentIndex, tagIds: readonly number[]): readonly IndexedAgent[] {
  const bearers = tagIds.map((tagId) => index.byTag.get(tagId) ?? [])
  const [rarest, ...others] = bearers.toSorted((a, b) => a.length - b.length)
  if (!rarest) return []
  return others.length === 0 ? rarest : rarest.filter((agent) => isFitting(agent, tagIds))
}

export function isFitting(agent: IndexedAgent, tagIds: readonly number[]): boolean {
  return tagIds.length > 0 && tagIds.every((tagId) => agent.tagIds.has(tagId))
}

/** Takes the outcome of a group's placement over, before the next group of the same pass is placed. */
export function recordPlacement(
  index: AgentIndex,
  group: { readonly id: number; readonly root: boolean },
  change: {
    readonly add: readonly { readonly agentId: number }[]
    readonly remove: readonly { readonly agentId: number }[]
  },
): void {
  for (const { agentId } of change.remove) {
    const agent = index.byId.get(agentId)
    agent?.groupIds.delete(group.id)
    if (agent?.rootGroupId === group.id) agent.rootGroupId = null
  }
  for (const { agentId } of change.add) {
    const agent = index.byId.get(agentId)
    agent?.groupIds.add(group.id)
    if (agent && group.root) agent.rootGroupId = group.id
  }
}
