/** Which agents of the fleet are lost together (mass-loss.ts). */
import { agentStates } from '../../resources/agent-state.js'
import type { FleetAgent } from '../fleet/fleet.js'
import { countSilent } from '../fleet/silence-queries.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { findOverdueSince, judgeLoss, type LossInput, type LossJudgement } from './mass-loss.js'

/** `queries`: the transaction that has read the fleet. */
export async function readLoss(
  { settings: { heartbeatMs }, now: readClock }: StateService,
  queries: Queries,
  { fleet, graceUntil }: Pick<LossInput, 'graceUntil'> & { readonly fleet: readonly FleetAgent[] },
): Promise<LossJudgement> {
  const now = readClock()
  const isAnyDown = fleet.some(({ state }) => state === agentStates.Down)
  const overdue = isAnyDown ? await countSilent(queries, findOverdueSince(now, heartbeatMs)) : 0
  return judgeLoss({ agents: fleet, overdue, now, heartbeatMs, graceUntil })
}
