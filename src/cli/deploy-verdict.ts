/** Maps the result of a deploy to an exit code: done, partly done, or below min (docs/behaviour.md, Exit codes). */
import type { AgentState } from '../resources/agent-state.js'
import { placeStateName } from '../resources/place-state.js'
import { isFields, requireList, type Fields } from './api-shapes.js'
import { exitCodes, type ExitCode } from './cli-error.js'

export interface Place {
  readonly agentId: unknown
  readonly agentName: string
  readonly state: string
  /** The revision that the agent serves; null before the first switch. */
  readonly revision: number | null
  /** Why the agent does not serve the desired revision. */
  readonly error: string | null
}

export interface GroupStatus {
  readonly name: string
  readonly stateName: string
  readonly revision: number
  readonly places: readonly Place[]
}

export function readGroup(group: Fields): GroupStatus {
  return {
    name: String(group['name']),
    stateName: String(group['stateName']),
    revision: Number(group['revision']),
    places: requireList(group['agentStates']).map((place) => {
      const agent = isFields(place['agent']) ? place['agent'] : {}
      const { revision, error } = place
      return {
        agentId: agent['id'],
        agentName: String(agent['name']),
        state: String(place['state']),
        revision: typeof revision === 'number' ? revision : null,
        error: typeof error === 'string' ? error : null,
      }
    }),
  }
}

/** States of agents in trouble, by agent id. */
export type IllAgents = ReadonlyMap<unknown, AgentState>

/** The agent's state if it overrides the placement's state. */
export function shownState({ agentId, state }: Place, ill: IllAgents): string {
  return placeStateName(state, ill.get(agentId))
}

/** Places that serve the group's revision. */
export function appliedPlaces({ places, revision }: GroupStatus): readonly Place[] {
  return places.filter((place) => place.state === 'applied' && place.revision === revision)
}

/** `percent`: requested share of the placed agents, 0 to 100. */
export function hasShare(group: GroupStatus, percent: number): boolean {
  return appliedPlaces(group).length * 100 >= percent * group.places.length
}

export interface DeploymentPlacement {
  readonly min: number
  /** Agents on which this deployment places the group. */
  readonly agentIds: ReadonlySet<unknown>
}

/** Judges a wait that ended with the work still running (202), after agents have begun to switch. */
export function judgeWaitEnd(
  group: GroupStatus,
  deployments: readonly DeploymentPlacement[],
): ExitCode {
  const applied = appliedPlaces(group)
  const hasMin = deployments.every(
    ({ min, agentIds }) => applied.filter(({ agentId }) => agentIds.has(agentId)).length >= min,
  )
  return hasMin ? exitCodes.partial : exitCodes.unfinished
}
