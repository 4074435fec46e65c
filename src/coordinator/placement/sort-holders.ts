/** Sorts who holds a group by who may stay, and for which deployment. Yields after each thousand holders. */
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import type { IndexedAgent } from '../fleet/agent-index.js'
import { findConflict } from '../fleet/placement-conflict.js'
import type { Place, PlacementDeployment, PlacementInput } from '../fleet/placement-input.js'
import { isFitting } from '../fleet/placement-target.js'

export interface Chosen {
  readonly agent: IndexedAgent
  /** Null: the agent does not hold the group yet. */
  readonly position: number | null
}

export interface HeldPlace extends Chosen {
  readonly position: number
}

export interface SortedHolders {
  /** By deployment, as the two below. */
  readonly keeping: ReadonlyMap<number, Chosen[]>
  readonly failed: ReadonlyMap<number, Chosen[]>
  /** Draining ones that have replacements. */
  readonly drained: ReadonlyMap<number, HeldPlace[]>
  /** Kept by none. */
  readonly spare: readonly Chosen[]
}

/** A step of some milliseconds. */
export const placesPerStep = 1_000

/** Adds the reasons of those that cannot stay to `leaving`. */
export function* sortHolders(
  input: PlacementInput,
  deployments: readonly PlacementDeployment[],
  leaving: Map<number, string>,
): Generator<void, SortedHolders, void> {
  const byDeployment = <T>() => new Map<number, T[]>(deployments.map(({ id }) => [id, []]))
  const keeping = byDeployment<Chosen>()
  const failed = byDeployment<Chosen>()
  const drained = byDeployment<HeldPlace>()
  const spare: Chosen[] = []
  const listOf = ({ id, max }: PlacementDeployment, agent: IndexedAgent) => {
    if (!isDrained({ agent }) && input.failed?.has(agent.id) === true) return failed.get(id)
    const kept = keeping.get(id)
    if (kept && kept.length < max) return kept
    return isDrained({ agent }) ? drained.get(id) : undefined
  }
  const holders = yield* findHolders(input, leaving)
  yield
  for (const [at, { place, agent }] of holders.entries()) {
    if (at % placesPerStep === placesPerStep - 1) yield
    const own = deployments.find(({ id }) => id === place.deploymentId)
    const list = own && isFitting(agent, own.target) ? listOf(own, agent) : undefined
    ;(list ?? spare).push({ agent, position: place.position })
  }
  return { keeping, failed, drained, spare }
}

interface Holder {
  readonly place: Place
  readonly agent: IndexedAgent
}

/** Returns the holders that may stay, by position, draining agents last. */
function* findHolders(
  input: PlacementInput,
  leaving: Map<number, string>,
): Generator<void, readonly Holder[], void> {
  const { placed, exclude, agents } = input
  const holders: Holder[] = []
  const inOrder = placed.toSorted((a, b) => a.position - b.position || a.agentId - b.agentId)
  for (const [at, place] of inOrder.entries()) {
    if (at % placesPerStep === placesPerStep - 1) yield
    if (exclude?.has(place.agentId) === true) continue
    const agent = agents.byId.get(place.agentId)
    const reason = agent ? findReasonToLeave(input, agent) : 'the agent was deleted'
    if (reason !== null) leaving.set(place.agentId, reason)
    else if (agent) holders.push({ place, agent })
  }
  if (!holders.some(isDrained)) return holders
  return [...holders.filter((holder) => !isDrained(holder)), ...holders.filter(isDrained)]
}

/** Failing agents keep their placements; ReadOnly and Locked ones do not, since nothing can be deployed to them. */
function findReasonToLeave(input: PlacementInput, agent: IndexedAgent): string | null {
  return mayStay(input, agent)
    ? findConflict(input, agent)
    : `the agent is ${agentStateName(agent.state)}`
}

function mayStay({ keepDown }: PlacementInput, { id, state }: IndexedAgent): boolean {
  if (state === agentStates.Down) return keepDown?.has(id) === true
  return state === agentStates.Running || state === agentStates.Failing
}

export function isHeld(chosen: Chosen): chosen is HeldPlace {
  return chosen.position !== null
}

export function isDrained({ agent }: { readonly agent: IndexedAgent }): boolean {
  return agent.draining === true
}
