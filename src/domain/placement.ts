/**
 * Which agents hold a group (choices: 3, Placement). An agent holds a group once, for one of its deployments.
 *
 * Who is there stays as long as it fits; new ones are Running agents, those with the fewest groups first. A deployment
 * gets its min before any gets more, and passes an agent that another needs on to it.
 */
import { findFitting, isFitting, type AgentIndex, type IndexedAgent } from './agent-index.js'
import { agentStateName, agentStates } from './agent-state.js'

export interface PlacementDeployment {
  readonly id: number
  readonly min: number
  readonly max: number
  /** All of them are needed. */
  readonly tagIds: readonly number[]
}

export interface PlacementGroup {
  readonly id: number
  readonly root: boolean
  readonly deployments: readonly PlacementDeployment[]
}

export interface Place {
  readonly agentId: number
  readonly deploymentId: number
  /** Order of placement in the group; the highest leaves first. */
  readonly position: number
}

export interface PlacementInput {
  readonly group: PlacementGroup
  readonly agents: AgentIndex
  readonly placed: readonly Place[]
  /** Passed over: not placed, and those that are placed are neither counted nor touched. */
  readonly exclude?: ReadonlySet<number>
  /** Agents where another group has one of this group's domains. */
  readonly domainConflicts?: ReadonlySet<number>
  /** More than half of the fleet is gone at once: Down agents keep their places. */
  readonly keepDown?: boolean
}

export interface PlacementDecision {
  /** Places that stay, maybe for another deployment of the group. */
  readonly keep: readonly Place[]
  /** In the order in which they were chosen. */
  readonly add: readonly Place[]
  /**
   * Chosen by us: Down holders whose place nobody takes have it when they return, so that a coordinator or a network that
   * was away never takes a site down. They count for no min; whoever comes later may take the place.
   */
  readonly waiting: readonly Place[]
  /** The one that was placed last goes first. */
  readonly remove: readonly (Place & { readonly reason: string })[]
  readonly shortages: readonly Shortage[]
}

export interface Shortage {
  readonly deploymentId: number
  readonly min: number
  readonly placed: number
  /** The agents that were passed over for a conflict would fill it: 409 rather than 503. */
  readonly wouldReachWithConflicting: boolean
}

export function placeGroup(input: PlacementInput): PlacementDecision {
  const work = beginPlacement(input)
  for (const slot of work.slots)
    while (slot.chosen.length < slot.min && gainAgent(work, slot)) continue
  for (const slot of work.slots)
    while (slot.chosen.length < slot.max && takeFree(work, slot)) continue
  return toDecision(work)
}

/** Why an agent cannot hold this group at all; null when it can. Whether it fits by its tags is another question. */
export function findConflict(input: PlacementInput, agent: IndexedAgent): string | null {
  const { group, domainConflicts } = input
  const others = agent.groupIds.size - (agent.groupIds.has(group.id) ? 1 : 0)
  if (agent.rootGroupId !== null && agent.rootGroupId !== group.id)
    return 'a root group is placed there'
  if (group.root && others > 0)
    return 'other groups are placed there, and a root group must be alone'
  return domainConflicts?.has(agent.id) === true
    ? 'another group has one of the domains there'
    : null
}

/** A deployment while it is being filled. */
interface Slot extends PlacementDeployment {
  readonly chosen: Chosen[]
  /** Who may come: holders that lost their place first, then new ones, best first. */
  readonly candidates: readonly Chosen[]
  /** Candidates before this one are taken. */
  next: number
}

interface Chosen {
  readonly agent: IndexedAgent
  /** Null: it does not hold the group yet. */
  readonly position: number | null
}

interface PlacementWork {
  readonly input: PlacementInput
  readonly slots: readonly Slot[]
  readonly taken: Set<number>
  /** Who cannot stay, and why. */
  readonly leaving: ReadonlyMap<number, string>
}

function beginPlacement(input: PlacementInput): PlacementWork {
  const deployments = input.group.deployments.toSorted((a, b) => a.id - b.id)
  const leaving = new Map<number, string>()
  const keeping = new Map<number, Chosen[]>(deployments.map(({ id }) => [id, []]))
  const spare: Chosen[] = []
  for (const { place, agent } of findHolders(input, leaving)) {
    const own = deployments.find(({ id }) => id === place.deploymentId)
    const kept = keeping.get(place.deploymentId) ?? spare
    const stays = own && kept.length < own.max && isFitting(agent, own.tagIds)
    const list = stays ? kept : spare
    list.push({ agent, position: place.position })
  }
  const taken = new Set([...keeping.values()].flat().map(({ agent }) => agent.id))
  const slots = deployments.map((deployment): Slot => {
    const chosen = keeping.get(deployment.id) ?? []
    const returning = spare.filter(({ agent }) => isFitting(agent, deployment.tagIds))
    const fresh = findNewAgents(input, deployment, countOpen(deployments, keeping))
    return { ...deployment, chosen, candidates: [...returning, ...fresh], next: 0 }
  })
  return { input, slots, taken, leaving }
}

/** Those that may stay, in their order; why the others may not goes into `leaving`. */
function findHolders(
  input: PlacementInput,
  leaving: Map<number, string>,
): { readonly place: Place; readonly agent: IndexedAgent }[] {
  const { placed, exclude, agents } = input
  const holders: { place: Place; agent: IndexedAgent }[] = []
  for (const place of placed.toSorted((a, b) => a.position - b.position || a.agentId - b.agentId)) {
    if (exclude?.has(place.agentId) === true) continue
    const agent = agents.byId.get(place.agentId)
    const reason = agent ? findReasonToLeave(input, agent) : 'the agent is no more'
    if (reason !== null) leaving.set(place.agentId, reason)
    else if (agent) holders.push({ place, agent })
  }
  return holders
}

/** How many new agents the group can take at most; others may take what one deployment would have liked. */
function countOpen(
  deployments: readonly PlacementDeployment[],
  keeping: ReadonlyMap<number, readonly Chosen[]>,
): number {
  return deployments.reduce((sum, { id, max }) => sum + max - (keeping.get(id)?.length ?? 0), 0)
}

/** Chosen by us: Failing agents keep their places, ReadOnly and Locked ones do not, since nothing can be deployed to them. */
function findReasonToLeave(input: PlacementInput, agent: IndexedAgent): string | null {
  const { Running, Failing, Down } = agentStates
  const mayStay = [Running, Failing, ...(input.keepDown === true ? [Down] : [])]
  if (!mayStay.some((state) => state === agent.state))
    return `the agent is ${agentStateName(agent.state)}`
  return findConflict(input, agent)
}

/** At most `count`, the best first: fewest groups, then the stable hash. */
function findNewAgents(
  input: PlacementInput,
  deployment: PlacementDeployment,
  count: number,
): Chosen[] {
  const { group, agents, exclude, placed } = input
  const holders = new Set(placed.map(({ agentId }) => agentId))
  const best: Ranked[] = []
  if (count === 0) return []
  for (const agent of findFitting(agents, deployment.tagIds)) {
    const rank = rankOf(group.id, agent)
    const last = best.length < count ? undefined : best.at(-1)
    // In a large fleet this comparison is the end of it for nearly all.
    if (last && rank > last.rank) continue
    if (agent.state !== agentStates.Running || holders.has(agent.id)) continue
    if (exclude?.has(agent.id) === true || findConflict(input, agent) !== null) continue
    insertRanked(best, { agent, rank }, count)
  }
  return best.map(({ agent }) => ({ agent, position: null }))
}

interface Ranked {
  readonly agent: IndexedAgent
  readonly rank: number
}

/** Keeps the `limit` best in order. */
function insertRanked(best: Ranked[], item: Ranked, limit: number): void {
  let low = 0
  let high = best.length
  while (low < high) {
    const middle = (low + high) >> 1
    const other = best[middle]
    if (other && isBefore(other, item)) low = middle + 1
    else high = middle
  }
  best.splice(low, 0, item)
  if (best.length > limit) best.pop()
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.agent.id < b.agent.id)
}

/** Groups count more than any hash; below 2^53 for two million groups on an agent. */
function rankOf(groupId: number, agent: IndexedAgent): number {
  return agent.groupIds.size * 2 ** 32 + hashPair(groupId, agent.id)
}

/** A 32-bit integer hash (the finalizer of MurmurHash3), so that groups of equal agents spread over them. */
function hashPair(groupId: number, agentId: number): number {
  let hash = Math.imul(groupId, 0x9e3779b1) ^ Math.imul(agentId, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function takeFree(work: PlacementWork, slot: Slot): boolean {
  for (;;) {
    const candidate = slot.candidates[slot.next]
    if (!candidate) return false
    slot.next++
    if (work.taken.has(candidate.agent.id)) continue
    work.taken.add(candidate.agent.id)
    slot.chosen.push(candidate)
    return true
  }
}

/** One more agent for a slot: a free one, or one that another slot can spare or replace (an augmenting path). */
function gainAgent(work: PlacementWork, slot: Slot, asked = new Set<Slot>()): boolean {
  if (takeFree(work, slot)) return true
  asked.add(slot)
  for (const giver of work.slots) {
    if (asked.has(giver)) continue
    const at = giver.chosen.findLastIndex(({ agent }) => isFitting(agent, slot.tagIds))
    if (at < 0) continue
    if (giver.chosen.length <= giver.min && !gainAgent(work, giver, asked)) continue
    slot.chosen.push(...giver.chosen.splice(at, 1))
    return true
  }
  return false
}

function toDecision(work: PlacementWork): PlacementDecision {
  const { input, slots, taken, leaving } = work
  let position = input.placed.reduce((last, place) => Math.max(last, place.position), 0)
  const keep: Place[] = []
  const add: Place[] = []
  for (const { id, chosen } of slots)
    for (const { agent, position: held } of chosen) {
      const place = { agentId: agent.id, deploymentId: id }
      if (held === null) add.push({ ...place, position: ++position })
      else keep.push({ ...place, position: held })
    }
  const gone = input.placed.filter(
    ({ agentId }) => !taken.has(agentId) && input.exclude?.has(agentId) !== true,
  )
  const waiting = findWaiting(work, gone)
  const remove = gone
    .filter((place) => !waiting.includes(place))
    .map((place) => ({ ...place, reason: leaving.get(place.agentId) ?? reasonToGo(work, place) }))
    .toSorted((a, b) => b.position - a.position)
  keep.sort((a, b) => a.position - b.position)
  return { keep, add, waiting, remove, shortages: findShortages(work) }
}

/** The earliest first, as many as the deployment has room for. */
function findWaiting({ input, slots }: PlacementWork, gone: readonly Place[]): Place[] {
  const room = new Map(slots.map(({ id, max, chosen }) => [id, max - chosen.length]))
  return gone
    .toSorted((a, b) => a.position - b.position || a.agentId - b.agentId)
    .filter(({ agentId, deploymentId }) => {
      const agent = input.agents.byId.get(agentId)
      const slot = slots.find(({ id }) => id === deploymentId)
      const left = room.get(deploymentId) ?? 0
      if (agent?.state !== agentStates.Down || !slot || left === 0) return false
      if (!isFitting(agent, slot.tagIds) || findConflict(input, agent) !== null) return false
      room.set(deploymentId, left - 1)
      return true
    })
}

function reasonToGo({ input, slots }: PlacementWork, place: Place): string {
  const agent = input.agents.byId.get(place.agentId)
  const fits = agent && slots.some(({ tagIds }) => isFitting(agent, tagIds))
  return fits === true ? 'its deployment has its max' : 'it no longer has the tags of a deployment'
}

function findShortages({ input, slots, taken }: PlacementWork): Shortage[] {
  return slots
    .filter(({ chosen, min }) => chosen.length < min)
    .map(({ id, min, tagIds, chosen }) => {
      const conflicting = findFitting(input.agents, tagIds).filter(
        (agent) =>
          agent.state === agentStates.Running &&
          !taken.has(agent.id) &&
          input.exclude?.has(agent.id) !== true &&
          findConflict(input, agent) !== null,
      )
      const reached = chosen.length + conflicting.length >= min
      return { deploymentId: id, min, placed: chosen.length, wouldReachWithConflicting: reached }
    })
}
