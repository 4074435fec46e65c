/**
 * Decides which agents hold a group (docs/behaviour.md, Placement). An agent holds a group once, for one of its deployments.
 *
 * An agent keeps the group as long as it fits; new agents are Running ones, those with the fewest groups first. Every
 * deployment gets its min before any gets more, and a deployment passes on an agent that another one needs.
 */
import { runAtOnce } from '../../in-steps.js'
import type { IndexedAgent } from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'
import { findConflict, findReplaced } from '../fleet/placement-conflict.js'
import type {
  PlacementDeployment,
  Place,
  PlacementInput,
  HeldPlacement,
} from '../fleet/placement-input.js'
import { findCandidates, isFitting } from '../fleet/placement-target.js'
import { findMoved } from './drain-places.js'
import { chooseBest } from './placement-rank.js'
import { findShortages, type Shortage } from './placement-shortage.js'
import {
  isDrained,
  isHeld,
  placesPerStep,
  sortHolders,
  type Chosen,
  type HeldPlace,
} from './sort-holders.js'

export interface PlacementDecision {
  /** Placements that stay, possibly for another deployment of the group. */
  readonly keep: readonly Place[]
  /** The placements in `keep` on draining agents that end once other agents serve in their place. */
  readonly moving: readonly Place[]
  /** In the order in which they were chosen. */
  readonly add: readonly Place[]
  /**
   * Placements on Down and Locked agents that no other agent takes: they are still there when the agent returns, so that an outage
   * of a coordinator or a network, or an unlock, never takes a site down. They do not count for min; a later agent may take them.
   */
  readonly waiting: readonly Place[]
  /** The most recent placement goes first. */
  readonly remove: readonly (Place & { readonly reason: string })[]
  readonly shortages: readonly Shortage[]
  /** The placements of other groups that this group takes over on its agents. */
  readonly replaced: readonly HeldPlacement[]
}

export function placeGroup(input: PlacementInput): PlacementDecision {
  return runAtOnce(placeInSteps(input))
}

/** The same in steps of some milliseconds, however many agents hold the group. */
export function* placeInSteps(input: PlacementInput): Generator<void, PlacementDecision, void> {
  const work = yield* beginPlacement(input)
  yield
  for (const slot of work.slots)
    while (slot.chosen.length < slot.min && gainAgent(work, slot)) continue
  for (const slot of work.slots)
    while (slot.chosen.length < slot.max && takeFree(work, slot)) continue
  for (const slot of work.slots) replaceDrained(work, slot)
  yield
  return yield* toDecision(work)
}

/** A deployment while it is being filled. */
interface Slot extends PlacementDeployment {
  readonly chosen: Chosen[]
  /** Agents that may be chosen: holders that lost their placement first, then new ones, best first. */
  readonly candidates: readonly Chosen[]
  /** Candidates before this one are taken. */
  next: number
  /** Holders where the VCL failed: they stay, whichever agents are chosen. */
  readonly failed: readonly Chosen[]
  /** Placements on draining agents for which other agents were chosen. */
  readonly drained: HeldPlace[]
}

interface PlacementWork {
  readonly input: PlacementInput
  readonly slots: readonly Slot[]
  readonly taken: Set<number>
  /** The agents that cannot stay → the reason. */
  readonly leaving: ReadonlyMap<number, string>
}

function* beginPlacement(input: PlacementInput): Generator<void, PlacementWork, void> {
  const deployments = input.group.deployments.toSorted((a, b) => a.id - b.id)
  const leaving = new Map<number, string>()
  const { keeping, failed, drained, spare } = yield* sortHolders(input, deployments, leaving)
  yield
  const taken = new Set(
    [...keeping.values(), ...drained.values()].flat().map(({ agent }) => agent.id),
  )
  // Other agents are to replace them.
  const drainedCount = [...keeping.values()].flat().filter(isDrained).length
  const slots = deployments.map((deployment): Slot => {
    const chosen = keeping.get(deployment.id) ?? []
    const returning = spare.filter(({ agent }) => isFitting(agent, deployment.target))
    const open = countOpen(deployments, keeping) + drainedCount
    const free = { ...input, group: { ...input.group, replaces: undefined } }
    const fresh = findNewAgents(free, deployment, open)
    // Agents where another group makes way come after free ones.
    const held = input.group.replaces ? findNewAgents(input, deployment, open) : []
    const own = failed.get(deployment.id) ?? []
    const last = [...failed.values()]
      .flat()
      .filter(({ agent }) => isFitting(agent, deployment.target))
    const candidates = [...returning, ...fresh, ...held, ...last]
    return {
      ...deployment,
      chosen,
      candidates,
      next: 0,
      failed: own,
      drained: drained.get(deployment.id) ?? [],
    }
  })
  return { input, slots, taken, leaving }
}

/** The maximum number of new agents that the group can take: other deployments may take the agents that one would choose first. */
function countOpen(
  deployments: readonly PlacementDeployment[],
  keeping: ReadonlyMap<number, readonly Chosen[]>,
): number {
  return deployments.reduce((sum, { id, max }) => sum + max - (keeping.get(id)?.length ?? 0), 0)
}

/** Returns at most `count` agents, the best first: fewest groups, then the stable hash. */
function findNewAgents(
  input: PlacementInput,
  deployment: PlacementDeployment,
  count: number,
): Chosen[] {
  const { group, agents, exclude, placed } = input
  const holders = new Set(placed.map(({ agentId }) => agentId))
  const best = chooseBest(
    agents,
    findCandidates(agents, deployment.target),
    { groupId: group.id, limit: count },
    (agent) =>
      agent.state === agentStates.Running &&
      isFitting(agent, deployment.target) &&
      !holders.has(agent.id) &&
      exclude?.has(agent.id) !== true &&
      findConflict(input, agent) === null,
  )
  return best.map((agent) => ({ agent, position: null }))
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

/** Adds one more agent to a slot: a free one, or one that another slot can spare or replace (an augmenting path). */
function gainAgent(work: PlacementWork, slot: Slot, asked = new Set<Slot>()): boolean {
  if (takeFree(work, slot)) return true
  asked.add(slot)
  for (const giver of work.slots) {
    if (asked.has(giver)) continue
    const at = giver.chosen.findLastIndex(({ agent }) => isFitting(agent, slot.target))
    if (at < 0) continue
    if (giver.chosen.length <= giver.min && !gainAgent(work, giver, asked)) continue
    slot.chosen.push(...giver.chosen.splice(at, 1))
    return true
  }
  return keepDrained(work, slot)
}

/** Where no other agent can take a place, a draining agent of the group keeps it, of this deployment first. */
function keepDrained({ slots }: PlacementWork, slot: Slot): boolean {
  for (const { drained } of [slot, ...slots]) {
    const at = drained.findIndex(({ agent }) => isFitting(agent, slot.target))
    if (at < 0) continue
    slot.chosen.push(...drained.splice(at, 1))
    return true
  }
  return false
}

/** Agents where the VCL failed before are never used as replacements. */
function replaceDrained(work: PlacementWork, slot: Slot): void {
  const { failed } = work.input
  if (!slot.chosen.some(isDrained)) return
  for (const place of slot.chosen.filter(isHeld).filter(isDrained).toReversed()) {
    const candidate = slot.candidates
      .slice(slot.next)
      .find(({ agent: { id } }) => !work.taken.has(id) && failed?.has(id) !== true)
    if (!candidate) return
    work.taken.add(candidate.agent.id)
    slot.chosen.splice(slot.chosen.indexOf(place), 1, candidate)
    slot.drained.push(place)
  }
}

function* toDecision(work: PlacementWork): Generator<void, PlacementDecision, void> {
  const { input, slots, taken, leaving } = work
  const { keep, add } = yield* listChosen(work)
  const apart = slots.flatMap(({ id, failed }) =>
    failed
      .filter(({ agent }) => !taken.has(agent.id))
      .map(({ agent, position }) => ({
        agentId: agent.id,
        deploymentId: id,
        position: position ?? 0,
      })),
  )
  const moving = findMoving(work)
  keep.push(...apart, ...moving)
  for (const { drained } of slots) for (const { agent } of drained) taken.delete(agent.id)
  yield
  const stays = new Set([...taken, ...[...apart, ...moving].map(({ agentId }) => agentId)])
  const gone = input.placed.filter(
    ({ agentId }) => !stays.has(agentId) && input.exclude?.has(agentId) !== true,
  )
  const waiting = findWaiting(work, gone)
  const waits = new Set(waiting)
  const remove = gone
    .filter((place) => !waits.has(place))
    .map((place) => ({ ...place, reason: leaving.get(place.agentId) ?? reasonToGo(work, place) }))
    .toSorted((a, b) => b.position - a.position)
  yield
  keep.sort((a, b) => a.position - b.position)
  const replaced = findAllReplaced(input, [...keep, ...add])
  yield
  const shortages = findShortages(input, slots, taken)
  return { keep, moving, add, waiting, remove, shortages, replaced }
}

/** Returns what the slots hold, unordered, and what is new there, at positions after all others. */
function* listChosen({
  input,
  slots,
}: PlacementWork): Generator<void, { readonly keep: Place[]; readonly add: Place[] }, void> {
  let position = input.placed.reduce((last, place) => Math.max(last, place.position), 0)
  const keep: Place[] = []
  const add: Place[] = []
  for (const { id, chosen } of slots)
    for (const [at, { agent, position: held }] of chosen.entries()) {
      if (at % placesPerStep === placesPerStep - 1) yield
      const place = { agentId: agent.id, deploymentId: id }
      if (held === null) add.push({ ...place, position: ++position })
      else keep.push({ ...place, position: held })
    }
  return { keep, add }
}

/** Returns the drained placements that stay until more of their replacements serve. */
function findMoving({ input, slots }: PlacementWork): Place[] {
  const serves = ({ id, state }: IndexedAgent): boolean =>
    state === agentStates.Running && input.serving?.has(id) === true
  return slots.flatMap(({ id, min, chosen, drained }) => {
    const held = drained.toSorted((a, b) => a.position - b.position)
    const moved = findMoved({ min, held, chosen, serves })
    return held
      .filter((place) => !moved.has(place))
      .map(({ agent, position }) => ({ agentId: agent.id, deploymentId: id, position }))
  })
}

/** Returns the earliest placements first, as many as their deployment has room for. */
function findWaiting({ input, slots }: PlacementWork, gone: readonly Place[]): Place[] {
  const room = new Map(slots.map(({ id, max, chosen }) => [id, max - chosen.length]))
  return gone
    .toSorted((a, b) => a.position - b.position || a.agentId - b.agentId)
    .filter(({ agentId, deploymentId }) => {
      const agent = input.agents.byId.get(agentId)
      const slot = slots.find(({ id }) => id === deploymentId)
      const left = room.get(deploymentId) ?? 0
      const isAway = agent?.state === agentStates.Down || agent?.state === agentStates.Locked
      if (!isAway || !slot || left === 0) return false
      if (!isFitting(agent, slot.target) || findConflict(input, agent) !== null) return false
      room.set(deploymentId, left - 1)
      return true
    })
}

/** The reason for removing an agent that no longer fits. */
export const unfitReason = 'it no longer has the tags of a deployment'

/** The reason for removing an agent that is drained. */
const drainedReason = 'the agent is drained, and others serve in its place'

/** The reason for removing an agent that still fits. */
export const fullReason = 'its deployment has reached its max'

function reasonToGo({ input, slots }: PlacementWork, place: Place): string {
  const agent = input.agents.byId.get(place.agentId)
  const fits = agent && slots.some(({ target }) => isFitting(agent, target))
  if (fits === true && isDrained({ agent })) return drainedReason
  return fits === true ? fullReason : unfitReason
}

function findAllReplaced(
  { group, agents }: PlacementInput,
  chosen: readonly Place[],
): HeldPlacement[] {
  if (group.replaces === undefined) return []
  return chosen.flatMap(({ agentId }) => {
    const agent = agents.byId.get(agentId)
    return agent ? findReplaced(group, agent).map((holder) => ({ agentId, holder })) : []
  })
}
