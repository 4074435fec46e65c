/** Finds the deployments of a group that stay below their min, and counts the agents that fit them by state. */
import type { IndexedAgent } from '../fleet/agent-index.js'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { describeConflict, type Conflict } from '../fleet/placement-conflict.js'
import type { PlacementDeployment, PlacementInput } from '../fleet/placement-input.js'
import { findFitting } from '../fleet/placement-target.js'

export interface Shortage {
  readonly deploymentId: number
  readonly min: number
  readonly placed: number
  /** With the agents that were passed over because of a conflict it would reach min: 409 instead of 503. */
  readonly wouldSufficeWithConflicting: boolean
  /** How many agents fit it, whatever their state. */
  readonly fitting: number
  /** The number of them in each state other than Running. */
  readonly states: readonly { readonly state: AgentState; readonly count: number }[]
  /** The Running agents that cannot be used, and why. */
  readonly conflicts: readonly (Conflict & { readonly agentId: number })[]
}

interface FilledSlot extends PlacementDeployment {
  readonly chosen: readonly unknown[]
}

export function findShortages(
  input: PlacementInput,
  slots: readonly FilledSlot[],
  taken: ReadonlySet<number>,
): Shortage[] {
  return slots
    .filter(({ chosen, min }) => chosen.length < min)
    .map(({ id, min, target, chosen }) => {
      const fitting = findFitting(input.agents, target).toSorted((a, b) => a.id - b.id)
      const conflicts = fitting.flatMap((agent) => {
        const isOpen = agent.state === agentStates.Running && !taken.has(agent.id)
        if (!isOpen || input.exclude?.has(agent.id) === true) return []
        const conflict = describeConflict(input, agent)
        return conflict === null ? [] : [{ agentId: agent.id, ...conflict }]
      })
      return {
        deploymentId: id,
        min,
        placed: chosen.length,
        fitting: fitting.length,
        conflicts,
        wouldSufficeWithConflicting: chosen.length + conflicts.filter(isHeld).length >= min,
        states: countStates(fitting),
      }
    })
}

/** True if another group could make way for this one on the agent. */
function isHeld({ isUnavailable }: Conflict): boolean {
  return isUnavailable !== true
}

function countStates(agents: readonly IndexedAgent[]): Shortage['states'] {
  const counts = new Map<AgentState, number>()
  for (const { state } of agents)
    if (state !== agentStates.Running) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts]
    .map(([state, count]) => ({ state, count }))
    .toSorted((a, b) => b.count - a.count || a.state - b.state)
}
