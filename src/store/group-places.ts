/** The places of groups with their agents' names and states. */
import type { AgentState } from '../domain/agent-state.js'
import type { PlacementState } from '../domain/vcl-group.js'
import type { CandidateState } from './placements.js'
import type { Queries } from './store.js'

export interface GroupPlace {
  readonly groupId: number
  readonly agentId: number
  readonly agentName: string
  readonly agentState: AgentState
  readonly deploymentId: number
  readonly state: PlacementState
  readonly candidateState: CandidateState | null
  readonly appliedRevision: number | null
  readonly error: string | null
  readonly deployedAt: number | null
}

/** In the order of placement. */
export async function readGroupPlaces(
  queries: Queries,
  groupIds: readonly number[],
): Promise<GroupPlace[]> {
  const rows = await queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .select([
      'placements.groupId',
      'placements.agentId',
      'agents.name as agentName',
      'agents.state as agentState',
      'placements.deploymentId',
      'placements.state',
      'placements.candidateState',
      'placements.appliedRevision',
      'placements.error',
      'placements.deployedAt',
    ])
    .where('placements.groupId', 'in', [...groupIds])
    .orderBy('placements.groupId')
    .orderBy('placements.position')
    .execute()
  // States are written by the use cases only.
  return rows.map((row) => ({
    ...row,
    agentState: row.agentState as AgentState,
    state: row.state as PlacementState,
    candidateState: row.candidateState as CandidateState | null,
  }))
}
