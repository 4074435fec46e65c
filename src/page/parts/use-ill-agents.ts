/** The agents that are not well, whose state overrides that of what is placed on them. */
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../resources/agent.js'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { useList } from '../api/list.js'
import { mayRead } from '../session/rights.js'

const { Failing, Down, Locked } = agentStates
const query = { state: [Failing, Down, Locked].join() }

/** By the agent's id; nothing for who may not read agents. For `placeStateName`. */
export function useIllAgents(): ReadonlyMap<number, AgentState> {
  const path = mayRead('agent') ? '/agents' : null
  const { rows } = useList<Agent>(path, { query, follow: ['agent'] })
  return useMemo(() => new Map(rows.map(({ id, state }) => [id, state])), [rows])
}
