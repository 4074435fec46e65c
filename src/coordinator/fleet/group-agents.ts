/** The agents that a group is placed on, and whose they are. */
import type { Queries } from '../store/store.js'

interface GroupAgent {
  readonly id: number
  readonly organizationId: number | null
}

/** Without those of its stage only. */
export async function readGroupAgents(queries: Queries, groupId: number): Promise<GroupAgent[]> {
  return queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .select(['agents.id', 'agents.organizationId'])
    .distinct()
    .where('placements.groupId', '=', groupId)
    .where('placements.stage', '=', 0)
    .orderBy('agents.id')
    .execute()
}
