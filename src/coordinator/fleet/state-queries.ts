/** Name and state of the agents that a group is placed on. */
import type { AgentState } from '../../resources/agent-state.js'
import type { CacheRelease } from '../../resources/cache-release.js'
import type { Queries } from '../store/store.js'

export interface AgentStateRow {
  readonly id: number
  readonly name: string
  readonly state: AgentState
  /** Of its cache. */
  readonly release: CacheRelease
}

export async function readAgentStates(
  queries: Queries,
  groupId: number,
): Promise<Map<number, AgentStateRow>> {
  const rows = await queries
    .selectFrom('agents')
    .innerJoin('placements', 'placements.agentId', 'agents.id')
    .select(['agents.id', 'agents.name', 'agents.state'])
    .select(['agents.engineProduct as product', 'agents.engineVersion as version'])
    .where('placements.groupId', '=', groupId)
    .execute()
  // Only the heartbeat and registration use cases write the state.
  return new Map(
    rows.map(({ id, name, state, ...release }) => [
      id,
      { id, name, state: state as AgentState, release },
    ]),
  )
}
