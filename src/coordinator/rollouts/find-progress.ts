/** Derives how far each agent of a rollout is from its placement. Pure. */
import { findHeld, type RolloutRecord } from '../fleet/rollout-queries.js'
import { programOf } from '../fleet/vcl-group.js'
import { rolloutStates } from '../../resources/rollout.js'
import { progressOf, toWaveAgent } from './move-places.js'
import type { AgentProgress } from './next-step.js'
import type { PlaceProgress } from './seen-places.js'

/** `places`: the placements of the group, by agent. */
export function findProgress(
  rollout: RolloutRecord,
  places: ReadonlyMap<number, PlaceProgress>,
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

/** Adds to the waves how far each agent is; for a rollout that went back, also after it has ended. */
export function addProgress(
  rollout: RolloutRecord,
  places: ReadonlyMap<number, PlaceProgress>,
): RolloutRecord {
  const { RollingBack, RolledBack, Aborted } = rolloutStates
  const isBack = rollout.state === RolledBack || rollout.state === Aborted
  const progress = findProgress(isBack ? { ...rollout, state: RollingBack } : rollout, places)
  const waves = rollout.waves.map((wave, at) => ({
    ...wave,
    agents: wave.agents.map((agent) =>
      toWaveAgent(agent, progress.get(agent.id) ?? 'gone', places.get(agent.id), at < rollout.wave),
    ),
  }))
  return { ...rollout, waves }
}
