/** What an agent is told of itself: how it looks from here, for whoever enrols or checks its host. */
import { agentStateName, type AgentState } from '../../resources/agent-state.js'
import type { StateService } from '../service.js'

interface OwnState {
  readonly id: number
  readonly name: string
  readonly stateName: ReturnType<typeof agentStateName>
  readonly engineError: string | null
  readonly lockedBecause: string | null
}

/** Undefined for an agent that is gone. */
export async function readOwnState(
  { store }: StateService,
  agentId: number,
): Promise<OwnState | undefined> {
  const row = await store.queries
    .selectFrom('agents')
    .select(['id', 'name', 'state', 'engineError', 'lockedBecause'])
    .where('id', '=', agentId)
    .executeTakeFirst()
  if (!row) return undefined
  const { state, ...rest } = row
  return { ...rest, stateName: agentStateName(state as AgentState) } // written by us only
}
