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

/** Places of a group that are alike, and how many they are. */
export interface AlikePlaces {
  readonly deploymentId: number
  readonly state: PlacementState
  readonly hasCandidate: boolean
  readonly candidateState: CandidateState | null
  readonly agentState: AgentState
  readonly count: number
}

/** For those who look again and again how far a group is: a handful of rows, however many agents there are. */
export async function countGroupPlaces(queries: Queries, groupId: number): Promise<AlikePlaces[]> {
  const rows = await queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .where('placements.groupId', '=', groupId)
    .groupBy([
      'placements.deploymentId',
      'placements.state',
      'placements.candidateName',
      'placements.candidateState',
      'agents.state',
    ])
    .select((e) => [
      'placements.deploymentId',
      'placements.state',
      'placements.candidateName',
      'placements.candidateState',
      'agents.state as agentState',
      e.fn.countAll<number>().as('count'),
    ])
    .execute()
  // States are written by the use cases only.
  return rows.map(({ candidateName, ...row }) => ({
    ...row,
    hasCandidate: candidateName !== null,
    agentState: row.agentState as AgentState,
    state: row.state as PlacementState,
    candidateState: row.candidateState as CandidateState | null,
  }))
}
