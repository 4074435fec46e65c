/** Returns an agent's state as the coordinator sees it, for enrolment and checks on its host. */
import { agentStateName, type AgentState } from '../../resources/agent-state.js'
import type { StateService } from '../service.js'

interface OwnState {
  readonly id: number
  readonly name: string
  readonly stateName: ReturnType<typeof agentStateName>
  readonly engineError: string | null
  readonly lockedBecause: string | null
}

/** Returns undefined for a deleted agent. */
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
