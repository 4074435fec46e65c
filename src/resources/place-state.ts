/** The displayed state of a group or certificate on an agent: the agent's state overrides it (docs/behaviour.md, Page). */
import { agentStateName, agentStates, type AgentState } from './agent-state.js'

/**
 * The last known state on a Down agent is outdated. A Failing or Locked agent serves or accepts nothing either, but `failed` is
 * still true there. `agentState` undefined: the agent's state is not known.
 */
export function placeStateName(state: string, agentState: AgentState | undefined): string {
  if (agentState === undefined) return state
  if (agentState === agentStates.Down) return agentStateName(agentState)
  const isWell = agentState === agentStates.Running || agentState === agentStates.ReadOnly
  return isWell || state === 'failed' ? state : agentStateName(agentState)
}
