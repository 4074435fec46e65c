/** How far agents are: the revision they should hold and the one they were seen to hold. */
import type { AgentState } from '../../resources/agent-state.js'
import type { Queries } from '../store/store.js'

/** Ids a statement. */
const idsPerStatement = 5000

interface AgentProgress {
  readonly id: number
  readonly desiredRevision: number
  readonly effectiveRevision: number | null
  readonly state: AgentState
}

/** Agents that were deleted meanwhile are left out. */
export async function readEffectiveRevisions(
  queries: Queries,
  agentIds: readonly number[],
): Promise<AgentProgress[]> {
  const found: AgentProgress[] = []
  for (let start = 0; start < agentIds.length; start += idsPerStatement)
    found.push(
      ...(
        await queries
          .selectFrom('agents')
          .select(['id', 'state', 'desiredRevision', 'effectiveRevision'])
          .where('id', 'in', agentIds.slice(start, start + idsPerStatement))
          .execute()
      ).map((row) => ({
        ...row,
        state: row.state as AgentState, // written from stateOfLiveAgent and markSilentDown only
      })),
    )
  return found
}
