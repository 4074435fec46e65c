/** Rollouts are kept for 90 days from their end. */
import { deleteRolloutsBefore } from '../fleet/rollout-queries.js'
import type { StateService } from '../service.js'

const keptMs = 90 * 24 * 60 * 60 * 1000
/** Small steps leave the database free for other writers. */
const atOnce = 100

export async function removeOldRollouts(service: StateService): Promise<void> {
  const before = service.now() - keptMs
  while ((await deleteRolloutsBefore(service.store.queries, before, atOnce)) === atOnce);
}
