/** The places of groups with their agents' names and states. */
import { sql } from 'kysely'
import type { PlaceHolder } from './agent-index.js'
import type { AgentState } from '../../resources/agent-state.js'
import { stageDeploymentId } from './stage.js'
import type { PlacementState } from './vcl-group.js'
import { selectHeld, type DeployHold } from './deploy-queries.js'
import type { CandidateState } from './placement-queries.js'
import type { Queries } from '../store/store.js'

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

/** In the order of placement; with those of their stages when asked for. */
export async function readGroupPlaces(
  queries: Queries,
  groupIds: readonly number[],
  { withStages = false }: { readonly withStages?: boolean } = {},
): Promise<GroupPlace[]> {
  let places = queries
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
  if (!withStages) places = places.where('placements.stage', '=', 0)
  return (await places.execute()).map(toPlace)
}

/** States are written by the use cases only. */
function toPlace<Row extends StoredPlace>(row: Row) {
  return {
    ...row,
    deploymentId: row.deploymentId ?? stageDeploymentId,
    agentState: row.agentState as AgentState,
    state: row.state as PlacementState,
    candidateState: row.candidateState as CandidateState | null,
  }
}

interface StoredPlace {
  readonly deploymentId: number | null
  readonly agentState: number
  readonly state: string
  readonly candidateState: string | null
}

/** Places of a group that are alike, and how many they are. */
export interface AlikePlaces {
  readonly deploymentId: number
  readonly state: PlacementState
  readonly hasCandidate: boolean
  readonly candidateState: CandidateState | null
  readonly hasError: boolean
  readonly agentState: AgentState
  readonly count: number
}

/**
 * For those who look again and again how far a group or its stage is: a handful of rows, however many agents there are.
 * `hold`: none when the deploy is no longer the caller's.
 */
export async function countGroupPlaces(
  queries: Queries,
  { groupId, stage }: PlaceHolder,
  hold?: DeployHold,
): Promise<AlikePlaces[]> {
  let places = countPlaces(queries)
    .where('placements.groupId', '=', groupId)
    .where('placements.stage', '=', stage ? 1 : 0)
    .groupBy('placements.candidateName')
    .select('placements.candidateName')
  if (hold) places = places.where((e) => e.exists(selectHeld(queries, hold)))
  return (await places.execute()).map(({ candidateName, ...row }) => ({
    ...toPlace(row),
    hasCandidate: candidateName !== null,
    hasError: row.hasError === 1,
  }))
}

function countPlaces(queries: Queries) {
  const hasError = sql<number>`case when ${sql.ref('placements.error')} is null then 0 else 1 end`
  return queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .groupBy([
      'placements.deploymentId',
      'placements.state',
      'placements.candidateState',
      'agents.state',
      hasError,
    ])
    .select((e) => [
      'placements.deploymentId',
      'placements.state',
      'placements.candidateState',
      'agents.state as agentState',
      hasError.as('hasError'),
      e.fn.countAll<number>().as('count'),
    ])
}

export interface CountedPlaces {
  readonly groupId: number
  readonly deploymentId: number
  /** A candidate on its way shows, whatever serves meanwhile. */
  readonly state: PlacementState
  readonly agentState: AgentState
  readonly count: number
}

/** Of many groups, without their stages. */
export async function countPlacesOfGroups(
  queries: Queries,
  groupIds: readonly number[],
): Promise<CountedPlaces[]> {
  const places = countPlaces(queries)
    .where('placements.groupId', 'in', [...groupIds])
    .where('placements.stage', '=', 0)
    .groupBy('placements.groupId')
    .select('placements.groupId')
  return (await places.execute()).map(toPlace).map((place) => ({
    ...place,
    state: place.candidateState === 'pending' ? 'applying' : place.state,
  }))
}
