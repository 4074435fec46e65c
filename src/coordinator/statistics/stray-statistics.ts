/** Removes the statistics of agents that were deleted; each coordinator does, for what it may have in memory. */
import { readAllAgentIds } from '../fleet/agent-rows.js'
import type { StateService } from '../service.js'

export async function removeStrayStatistics({
  store,
  statistics,
  now,
}: StateService): Promise<void> {
  await statistics.retain(await readAllAgentIds(store.queries), now())
}
