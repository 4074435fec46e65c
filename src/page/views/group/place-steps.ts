/** How far a deploy is on each cache, and what failed where: values in, values out. */
import type { AgentState } from '../../../resources/agent-state.js'
import { placeStateName } from '../../../resources/place-state.js'
import type { Group, Place } from '../../../resources/vclgroup.js'

/** Of a deploy in its first phase all load; in its second all switch. */
export type Step = 'loading' | 'loaded' | 'switching' | Place['state']

type GroupProgress = Pick<Group, 'stateName' | 'revision' | 'agentStates'>

/**
 * `revisionBefore` is the group's when its deploy began, null when it is not known: then a running deploy shows by the
 * places alone.
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
  /** Caches that are through the step that is on its way. */
  readonly done: number
  readonly all: number
  readonly failed: number
  /** Caches whose agents cannot do it now; they are never done. */
  readonly away: number
  readonly verb: 'loaded' | 'switched'
}

/**
 * Null: nothing to show, or not yet: the requested deploy has not begun as far as is known. `ill`: the agents that are
 * in trouble.
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
