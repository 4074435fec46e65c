/**
 * The states of an agent as the API shows them (docs/behaviour.md, Agents).
 *
 * Running ⇄ Failing while the agent is connected (the cache answers, or does not); either becomes Down after three
 * missed heartbeats; ReadOnly and Locked are declared by the agent and override the first two.
 */
export const agentStates = {
  Running: 1,
  Failing: 2,
  Down: 3,
  ReadOnly: 4,
  Locked: 5,
} as const

type AgentStateName = keyof typeof agentStates
export type AgentState = (typeof agentStates)[AgentStateName]

export function agentStateName(state: AgentState): AgentStateName {
  const found = Object.entries(agentStates).find(([, number]) => number === state)
  return (found?.[0] ?? 'Down') as AgentStateName // every AgentState is in the table
}

/** The state of the cache's child process, as the agent last saw it. */
export const engineStates = ['running', 'stopped', 'unreachable', 'unknown'] as const
export type EngineState = (typeof engineStates)[number]

/** The `engineError` of a working cache that is behind on invalidations: it counts as Failing until it has caught up. */
export const catchingUp = 'catching up with invalidations that it missed'

interface AgentCondition {
  readonly readOnly: boolean
  readonly locked: boolean
  readonly engineState: EngineState
}

/** The state of a connected agent. */
export function stateOfLiveAgent(condition: AgentCondition): AgentState {
  if (condition.locked) return agentStates.Locked
  if (condition.readOnly) return agentStates.ReadOnly
  return condition.engineState === 'running' ? agentStates.Running : agentStates.Failing
}
