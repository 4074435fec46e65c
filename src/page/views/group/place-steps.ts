/** The progress of a deploy on each cache, and its failures. Pure functions. */
import type { AgentState } from '../../../resources/agent-state.js'
import { placeStateName } from '../../../resources/place-state.js'
import type { Group, Place } from '../../../resources/vclgroup.js'

/** In the first phase of a deploy all caches load; in the second all switch. */
export type Step = 'loading' | 'loaded' | 'switching' | Place['state']

type GroupProgress = Pick<Group, 'stateName' | 'revision' | 'agentStates'>

/**
 * `revisionBefore` is the group's revision when its deploy began. Null if unknown: a running deploy is then recognized
 * by the places alone.
 */
export function stepOf(place: Place, group: GroupProgress, revisionBefore: number | null): Step {
  if (place.state === 'failed') return 'failed'
  const isSwitched = revisionBefore !== null && group.revision !== revisionBefore
  if (place.state === 'applying') return isSwitched ? 'switching' : 'loading'
  const isLoadPhase =
    group.stateName === 'Deploying' && revisionBefore !== null && group.revision === revisionBefore
  if (isLoadPhase) return 'loaded'
  if (place.state === 'wanted') return isSwitched ? 'switching' : 'wanted'
  return 'applied'
}

interface Progress {
  /** Caches that completed the current step. */
  readonly done: number
  readonly all: number
  readonly failed: number
  /** Caches whose agents cannot act now; they are never counted as done. */
  readonly away: number
  readonly verb: 'loaded' | 'switched'
}

/**
 * Returns null if there is nothing to show (yet): the requested deploy is not known to have begun. `ill`: agents with
 * problems.
 */
export function measureProgress(
  group: GroupProgress,
  revisionBefore: number | null,
  ill: ReadonlyMap<number, AgentState>,
): Progress | null {
  const all = group.agentStates.length
  const isBegun = group.stateName === 'Deploying' || group.revision !== revisionBefore
  if (all === 0 || !isBegun) return null
  const steps = group.agentStates.map((place) => {
    const step = stepOf(place, group, revisionBefore)
    return placeStateName(step, ill.get(place.agent.id)) === step ? step : 'away'
  })
  const count = (...wanted: readonly (Step | 'away')[]): number =>
    steps.filter((step) => wanted.includes(step)).length
  const isLoading = count('loading', 'loaded') > 0
  return {
    all,
    failed: count('failed'),
    away: count('away'),
    done: isLoading ? count('loaded') : count('applied'),
    verb: isLoading ? 'loaded' : 'switched',
  }
}
