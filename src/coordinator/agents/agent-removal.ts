/** Removes an agent: its row, its placements, its key. */
import { FleetError } from '../../errors.js'
import { deleteAgentRow } from '../fleet/agent-rows.js'
import type { AgentRecord } from '../fleet/agent-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { notifyAgentRevoked, notifyAgentsChanged } from './agent-hints.js'
import type { StateService } from '../service.js'

/**
 * Deletes the agent and revokes its key. Its session ends when the hint arrives, or with its next heartbeat if the hint is
 * lost. Throws 'conflict' while a group is placed on it, unless forced (docs/behaviour.md, Deletion).
 */
export async function deleteAgent(
  service: StateService,
  agent: Pick<AgentRecord, 'id' | 'name'>,
  options: { readonly force: boolean },
): Promise<void> {
  await service.store.decide(async (queries) => {
    const placements = await readPlacements(queries, { agentIds: [agent.id] })
    if (placements.length > 0 && !options.force)
      throw new FleetError(
        'conflict',
        'agent',
        `${placements.length} group(s) are placed on agent ${agent.name}; ?force=true forgets it all the same`,
      )
    await deleteAgentRow(queries, agent.id)
  })
  notifyAgentRevoked(service, agent.id)
  notifyAgentsChanged(service, [agent.id])
}
