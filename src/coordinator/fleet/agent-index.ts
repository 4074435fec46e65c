/**
 * Agents as placement reads them, found by tag: a run over many groups reads each group's own agents only.
 * `recordPlacement` keeps it true during such a run, so that later groups see what earlier ones took.
 */
import type { AgentState } from '../../resources/agent-state.js'
import type { CacheRelease } from '../../resources/cache-release.js'

export interface PlacementAgent {
  readonly id: number
  readonly state: AgentState
  /** Of its cache; undefined: not known. */
  readonly release?: CacheRelease | undefined
  /** Static and assigned ones. */
  readonly tagIds: readonly number[]
  /** Every group that is placed there, and every stage (`holderId`). */
  readonly groupIds: readonly number[]
  /** The one of them whose VCL is the whole VCL there. */
  readonly rootGroupId: number | null
  /** Of those that are placed there the ones whose place another takes, and which; undefined: none. */
  readonly replacedBy?: ReadonlyMap<number, number> | undefined
  /** What its cache runs is to be adopted: nothing new is placed there before. */
  readonly adopting?: boolean
  /** It is emptied: nothing new is placed there, and what is there moves where others fit. */
  readonly draining?: boolean
  /** The group of the console that it is in: its cache is that group's, deployed or not. */
  readonly memberOf?: number | null
}

/** A group, or a stage by its `holderId`, has this domain on this agent. */
export interface DomainOnAgent {
  readonly agentId: number
  readonly fqdn: string
  readonly groupId: number
}

/** Who has a place: a group, or its stage. */
export interface PlacementHolder {
  readonly groupId: number
  readonly stage: boolean
}

/** A group's stage holds places of its own: it goes by the negative of the group's id. */
export function holderId({ groupId, stage }: PlacementHolder): number {
  return stage ? -groupId : groupId
}

export interface IndexedAgent extends Pick<
  PlacementAgent,
  'id' | 'state' | 'release' | 'replacedBy' | 'adopting' | 'draining' | 'memberOf'
> {
  /** Where it stands in the index's arrays. */
  readonly slot: number
  readonly tagIds: ReadonlySet<number>
  readonly groupIds: Set<number>
  rootGroupId: number | null
  /** Name → the group that has it here, as far as `noteDomains` was called. */
  domains: ReadonlyMap<string, number>
}

/** A run over a large fleet asks each agent that fits, for each group: ids and counts lie flat, so that it touches few of the agents. */
export interface AgentIndex {
  readonly byId: ReadonlyMap<number, IndexedAgent>
  /** By slot. */
  readonly agents: readonly IndexedAgent[]
  /** By slot; doubles, since ids are larger than 32 bits. */
  readonly ids: Float64Array
  /** How many groups each holds, by slot. */
  readonly groupCounts: Int32Array
  /** The slots of those that have it. */
  readonly byTag: ReadonlyMap<number, readonly number[]>
}

/** Of most agents, where a map of their own each would be most of the index. */
const noDomains: ReadonlyMap<string, number> = new Map()

export function indexAgents(placementAgents: Iterable<PlacementAgent>): AgentIndex {
  const byTag = new Map<number, number[]>()
  const agents: IndexedAgent[] = []
  for (const agent of placementAgents) {
    const slot = agents.length
    const tagIds = new Set(agent.tagIds)
    agents.push({ ...agent, slot, tagIds, groupIds: new Set(agent.groupIds), domains: noDomains })
    for (const tagId of tagIds) {
      const bearers = byTag.get(tagId)
      if (bearers) bearers.push(slot)
      else byTag.set(tagId, [slot])
    }
  }
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  const ids = Float64Array.from(agents, ({ id }) => id)
  const groupCounts = Int32Array.from(agents, ({ groupIds }) => groupIds.size)
  return { byId, agents, ids, groupCounts, byTag }
}

/** What the placement of groups with domains is to look at. */
export function noteDomains(index: AgentIndex, domains: readonly DomainOnAgent[]): void {
  for (const { agentId, fqdn, groupId } of domains) {
    const agent = index.byId.get(agentId)
    if (agent) ownDomains(agent).set(fqdn, groupId)
  }
}

/** Takes the outcome of a group's placement over, before the next group of the same run is placed. */
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
  return agent.domains as Map<string, number> // one of its own, made above
}
