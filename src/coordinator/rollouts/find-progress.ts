/** How far each agent of a rollout is, by its place. Pure. */
import type { PlacementRecord } from '../fleet/placement-queries.js'
import { findHeld, type RolloutRecord } from '../fleet/rollout-queries.js'
import { programOf } from '../fleet/vcl-group.js'
import { rolloutStates } from '../../resources/rollout.js'
import { progressOf } from './move-places.js'
import type { AgentProgress } from './next-step.js'

/** `places`: of the group, by agent. */
export function findProgress(
  rollout: RolloutRecord,
  places: ReadonlyMap<number, PlacementRecord>,
): ReadonlyMap<number, AgentProgress> {
  const program = programOf(rollout.sources)
  const isGoingBack = rollout.state === rolloutStates.RollingBack
  const held = isGoingBack ? new Set<number>() : findHeld(rollout)
  const agents = rollout.waves.flatMap((wave) => wave.agents)
  return new Map(
    agents.map(({ id }) => [
      id,
      progressOf(places.get(id), { program, isGoingBack, isHeld: held.has(id) }),
    ]),
  )
}
