/** The progress of agents: their desired revision and the one they reported. */
import type { AgentState } from '../../resources/agent-state.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

interface AgentProgress {
  readonly id: number
  readonly desiredRevision: number
  readonly effectiveRevision: number | null
  readonly state: AgentState
}

/** Deleted agents are omitted. */
export async function readEffectiveRevisions(
  queries: Queries,
  agentIds: readonly number[],
): Promise<AgentProgress[]> {
  const rows = await inPieces(agentIds, (ids) =>
    queries
      .selectFrom('agents')
      .select(['id', 'state', 'desiredRevision', 'effectiveRevision'])
      .where('id', 'in', ids)
      .execute(),
  )
  return rows.map((row) => ({
    ...row,
    state: row.state as AgentState, // written from stateOfLiveAgent and markSilentDown only
  }))
}
