/**
 * Which places of draining agents may go now (docs/behaviour.md, Drain): each for one that serves in its place, and never so
 * many that fewer than min serve. Pure.
 */
import type { IndexedAgent } from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'

interface Placed {
  readonly agent: IndexedAgent
}

/** Of one deployment. */
interface Emptying<Held extends Placed> {
  readonly min: number
  /** On draining agents, in the order in which they were placed. */
  readonly held: readonly Held[]
  /** Who is to serve when these are gone, as many as before. */
  readonly chosen: readonly Placed[]
  readonly serves: (agent: IndexedAgent) => boolean
}

/** The one that was placed last goes first. */
export function findMoved<Held extends Placed>(emptying: Emptying<Held>): ReadonlySet<Held> {
  const { min, held, chosen, serves } = emptying
  const moved = new Set<Held>()
  // One that is Failing serves nobody and is not about to: only min waits for it.
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
