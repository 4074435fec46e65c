/** How far agents are: the revision they should hold and the one they were seen to hold. */
import type { Queries } from './store.js'

/** Ids a statement. */
const idsPerStatement = 5000

export interface AgentProgress {
  readonly id: number
  readonly desiredRevision: number
  readonly effectiveRevision: number | null
}

/** Agents that were deleted meanwhile are left out. */
export async function readEffectiveRevisions(
  queries: Queries,
  agentIds: readonly number[],
): Promise<AgentProgress[]> {
  const found: AgentProgress[] = []
  for (let start = 0; start < agentIds.length; start += idsPerStatement)
    found.push(
      ...(await queries
        .selectFrom('agents')
        .select(['id', 'desiredRevision', 'effectiveRevision'])
        .where('id', 'in', agentIds.slice(start, start + idsPerStatement))
        .execute()),
    )
  return found
}
