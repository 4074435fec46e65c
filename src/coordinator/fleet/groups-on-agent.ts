/** Which of the groups on an agent a caller may see. */
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export async function readVisibleGroupIds(
  queries: Queries,
  scope: Scope,
  agentId: number,
): Promise<number[]> {
  const rows = await queries
    .selectFrom('placements')
    .select('groupId')
    .distinct()
    .where('agentId', '=', agentId)
    .where(within(scope, 'placements'))
    .execute()
  return rows.map((row) => row.groupId)
}
