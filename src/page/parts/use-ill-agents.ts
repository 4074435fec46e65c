/** The agents in a problem state, which overrides the state of the objects placed on them. */
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../resources/agent.js'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { useList } from '../api/list.js'
import { mayRead } from '../session/rights.js'

const { Failing, Down, Locked } = agentStates
const query = { state: [Failing, Down, Locked].join() }

/** Keyed by agent id; empty for users who may not read agents. For `placeStateName`. */
export function useIllAgents(): ReadonlyMap<number, AgentState> {
  const path = mayRead('agent') ? '/agents' : null
  const { rows } = useList<Agent>(path, { query, follow: ['agent'] })
  return useMemo(() => new Map(rows.map(({ id, state }) => [id, state])), [rows])
}
