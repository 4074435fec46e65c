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
  /** Every group that is placed there, and every stage (`holderId`). */
  readonly groupIds: readonly number[]
  /** The one of them whose VCL is the whole VCL there. */
  readonly rootGroupId: number | null
  /** What its cache runs is to be adopted: nothing new is placed there before. */
  readonly adopting?: boolean
}

/** A group, or a stage by its `holderId`, has this domain on this agent. */
export interface DomainOnAgent {
  readonly agentId: number
  readonly fqdn: string
  readonly groupId: number
}

/** Who has a place: a group, or its stage. */
export interface PlaceHolder {
  readonly groupId: number
  readonly stage: boolean
}

/** A group's stage holds places of its own: it goes by the negative of the group's id. */
export function holderId({ groupId, stage }: PlaceHolder): number {
  return stage ? -groupId : groupId
}

export interface IndexedAgent {
  readonly id: number
  readonly state: AgentState
  readonly tagIds: ReadonlySet<number>
  readonly groupIds: Set<number>
  /** Their number, in the agent itself: a pass over a large fleet asks each agent that fits, for each group. */
  groupCount: number
  rootGroupId: number | null
  readonly adopting?: boolean
  /** Name → the group that has it here, as far as `noteDomains` was told. */
  readonly domains: Map<string, number>
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
    const groupIds = new Set(agent.groupIds)
    const indexed = { ...agent, tagIds, groupIds, groupCount: groupIds.size, domains: new Map() }
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

/** What the placement of groups with domains is to look at. */
export function noteDomains(index: AgentIndex, domains: readonly DomainOnAgent[]): void {
  for (const { agentId, fqdn, groupId } of domains)
    index.byId.get(agentId)?.domains.set(fqdn, groupId)
}

/** Takes the outcome of a group's placement over, before the next group of the same pass is placed. */
export function recordPlacement(
  index: AgentIndex,
  group: {
    readonly id: number
    readonly root: boolean
    readonly fqdns?: readonly string[] | undefined
  },
  change: {
    readonly add: readonly { readonly agentId: number }[]
    readonly remove: readonly { readonly agentId: number }[]
  },
): void {
  for (const { agentId } of change.remove) {
    const agent = index.byId.get(agentId)
    if (agent) removeGroup(agent, group.id)
  }
  for (const { agentId } of change.add) {
    const agent = index.byId.get(agentId)
    if (!agent) continue
    agent.groupIds.add(group.id)
    agent.groupCount = agent.groupIds.size
    if (group.root) agent.rootGroupId = group.id
    for (const fqdn of group.fqdns ?? []) agent.domains.set(fqdn, group.id)
  }
}

function removeGroup(agent: IndexedAgent, groupId: number): void {
  agent.groupIds.delete(groupId)
  agent.groupCount = agent.groupIds.size
  if (agent.rootGroupId === groupId) agent.rootGroupId = null
  for (const [fqdn, holder] of agent.domains) if (holder === groupId) agent.domains.delete(fqdn)
}
