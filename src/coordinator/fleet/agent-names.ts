/** Id, name and state of the agents that a response names. */
import type { AgentState } from '../../resources/agent-state.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

export interface NamedAgent {
  readonly id: number
  readonly name: string
  readonly state: AgentState
}

export async function readAgentNames(
  queries: Queries,
  agentIds: readonly number[],
): Promise<ReadonlyMap<number, NamedAgent>> {
  const rows = await inPieces([...new Set(agentIds)], (ids) =>
    queries
      .selectFrom('agents')
      .select(['id', 'name', 'state'])
      .where('id', 'in', [...ids])
      .execute(),
  )
  return new Map(rows.map((row) => [row.id, { ...row, state: row.state as AgentState }]))
}
