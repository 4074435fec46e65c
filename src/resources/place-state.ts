/** What is said of a place, a group or certificate on an agent: the agent's state overrides it (docs/behaviour.md, Page). */
import { agentStateName, agentStates, type AgentState } from './agent-state.js'

/**
 * A Down agent is not asked, so what its place was last is no news. One that is Failing or Locked serves or takes nothing either,
 * but why a text was refused there is still true. Undefined: the agent's state is not known.
 */
export function placeStateName(state: string, agentState: AgentState | undefined): string {
  if (agentState === undefined) return state
  if (agentState === agentStates.Down) return agentStateName(agentState)
  const isWell = agentState === agentStates.Running || agentState === agentStates.ReadOnly
  return isWell || state === 'failed' ? state : agentStateName(agentState)
}
