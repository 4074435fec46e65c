/**
 * Decides which placements on draining agents may be removed now (docs/behaviour.md, Drain): each for another agent that serves
 * in its place, and never so many that fewer than min serve. Pure.
 */
import type { IndexedAgent } from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'

interface Placed {
  readonly agent: IndexedAgent
}

/** The draining placements of one deployment. */
interface Emptying<Held extends Placed> {
  readonly min: number
  /** On draining agents, in the order in which they were placed. */
  readonly held: readonly Held[]
  /** The agents that are to serve once `held` is removed, as many as before. */
  readonly chosen: readonly Placed[]
  readonly serves: (agent: IndexedAgent) => boolean
}

/** Returns the placements to remove; the most recent one goes first. */
export function findMoved<Held extends Placed>(emptying: Emptying<Held>): ReadonlySet<Held> {
  const { min, held, chosen, serves } = emptying
  const moved = new Set<Held>()
  // A Failing agent neither serves nor is about to: it delays the move only by min.
  const coming = chosen.filter(
    ({ agent }) => agent.state === agentStates.Running && !serves(agent),
  ).length
  let serving = [...chosen, ...held].filter(({ agent }) => serves(agent)).length
  for (const place of held.toReversed()) {
    if (moved.size >= held.length - coming) break
    if (serves(place.agent)) {
      if (serving <= min) continue
      serving--
    }
    moved.add(place)
  }
  return moved
}
