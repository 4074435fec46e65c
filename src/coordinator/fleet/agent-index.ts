/**
 * Agents as placement reads them, indexed by tag: a run over many groups visits only each group's own agents.
 * `recordPlacement` updates it during such a run, so that later groups see the placements of earlier ones.
 */
import { runAtOnce } from '../../in-steps.js'
import type { AgentState } from '../../resources/agent-state.js'
import type { CacheRelease } from '../../resources/cache-release.js'

export interface PlacementAgent {
  readonly id: number
  readonly state: AgentState
  /** Of its cache; undefined: unknown. */
  readonly release?: CacheRelease | undefined
  /** Static and assigned ones. */
  readonly tagIds: readonly number[]
  /** All groups and stages placed there (`holderId`). */
  readonly groupIds: readonly number[]
  /** The group among them whose VCL is the whole VCL there. */
  readonly rootGroupId: number | null
  /** Groups placed there that are being replaced → the group that replaces them; undefined: none. */
  readonly replacedBy?: ReadonlyMap<number, number> | undefined
  /** Its cache's VCL is still to be adopted: nothing new is placed there before. */
  readonly adopting?: boolean
  /** Nothing new is placed there, and its placements move to other agents that fit. */
  readonly draining?: boolean
  /** The group of the console that it belongs to: its cache is reserved for that group, deployed or not. */
  readonly memberOf?: number | null
}

/** A group, or a stage by its `holderId`, holds this domain on this agent. */
export interface DomainOnAgent {
  readonly agentId: number
  readonly fqdn: string
  readonly groupId: number
}

/** The holder of a placement: a group or its stage. */
export interface PlacementHolder {
  readonly groupId: number
  readonly stage: boolean
}

/** A group's stage has its own placements, under the negative of the group's id. */
export function holderId({ groupId, stage }: PlacementHolder): number {
  return stage ? -groupId : groupId
}

export interface IndexedAgent extends Pick<
  PlacementAgent,
  'id' | 'state' | 'release' | 'replacedBy' | 'adopting' | 'draining' | 'memberOf'
> {
  /** Its position in the index's arrays. */
  readonly slot: number
  readonly tagIds: ReadonlySet<number>
  readonly groupIds: Set<number>
  rootGroupId: number | null
  /** Domain name → the group that holds it here, as recorded by `noteDomains`. */
  domains: ReadonlyMap<string, number>
}

/** A run over a large fleet checks each fitting agent for each group: ids and counts are in flat arrays to touch few objects. */
export interface AgentIndex {
  readonly byId: ReadonlyMap<number, IndexedAgent>
  /** By slot. */
  readonly agents: readonly IndexedAgent[]
  /** By slot; doubles, because ids exceed 32 bits. */
  readonly ids: Float64Array
  /** Number of groups on each agent, by slot. */
  readonly groupCounts: Int32Array
  /** The slots of the agents that have the tag. */
  readonly byTag: ReadonlyMap<number, readonly number[]>
}

/** Shared by most agents: a separate map for each would make up most of the index. */
const noDomains: ReadonlyMap<string, number> = new Map()

export function indexAgents(placementAgents: Iterable<PlacementAgent>): AgentIndex {
  return runAtOnce(indexInSteps(placementAgents))
}

/** Agents per step, which takes some milliseconds. */
const agentsPerStep = 1_000

/** The same in steps. */
export function* indexInSteps(
  placementAgents: Iterable<PlacementAgent>,
): Generator<void, AgentIndex, void> {
  const byTag = new Map<number, number[]>()
  const agents: IndexedAgent[] = []
  for (const agent of placementAgents) {
    const slot = agents.length
    if (slot % agentsPerStep === agentsPerStep - 1) yield
    const tagIds = new Set(agent.tagIds)
    agents.push({ ...agent, slot, tagIds, groupIds: new Set(agent.groupIds), domains: noDomains })
    for (const tagId of tagIds) {
      const bearers = byTag.get(tagId)
      if (bearers) bearers.push(slot)
      else byTag.set(tagId, [slot])
    }
  }
  yield
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  yield
  const ids = Float64Array.from(agents, ({ id }) => id)
  const groupCounts = Int32Array.from(agents, ({ groupIds }) => groupIds.size)
  return { byId, agents, ids, groupCounts, byTag }
}

/** Records held domains, for the placement of groups with domains. */
export function noteDomains(index: AgentIndex, domains: readonly DomainOnAgent[]): void {
  for (const { agentId, fqdn, groupId } of domains) {
    const agent = index.byId.get(agentId)
    if (agent) ownDomains(agent).set(fqdn, groupId)
  }
}

/** Records the result of a group's placement before the next group of the same run is placed. */
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
    if (agent) removeGroup(index, agent, group.id)
  }
  for (const { agentId } of change.add) {
    const agent = index.byId.get(agentId)
    if (!agent) continue
    agent.groupIds.add(group.id)
    index.groupCounts[agent.slot] = agent.groupIds.size
    if (group.root) agent.rootGroupId = group.id
    for (const fqdn of group.fqdns ?? []) ownDomains(agent).set(fqdn, group.id)
  }
}

function removeGroup(index: AgentIndex, agent: IndexedAgent, groupId: number): void {
  agent.groupIds.delete(groupId)
  index.groupCounts[agent.slot] = agent.groupIds.size
  if (agent.rootGroupId === groupId) agent.rootGroupId = null
  for (const [fqdn, holder] of agent.domains) if (holder === groupId) ownDomains(agent).delete(fqdn)
}

function ownDomains(agent: IndexedAgent): Map<string, number> {
  if (agent.domains === noDomains) agent.domains = new Map()
  return agent.domains as Map<string, number> // its own map, created above
}
