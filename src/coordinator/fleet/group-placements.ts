/** The placements of groups with their agents' names and states. */
import { sql } from 'kysely'
import type { PlacementHolder } from './agent-index.js'
import type { AgentOwner } from './agent-queries.js'
import type { AgentState } from '../../resources/agent-state.js'
import { noDeployment } from './placement-input.js'
import type { PlacementState } from './vcl-group.js'
import { selectHeld, type DeployHold } from './deploy-queries.js'
import type { CandidateState } from './placement-queries.js'
import { listIds, writeIds } from '../store/given-rows.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'

export interface GroupPlacement {
  readonly groupId: number
  readonly agentId: number
  readonly agentName: string
  readonly agentState: AgentState
  /** When the agent entered that state. */
  readonly agentSince: number
  readonly deploymentId: number
  readonly stage: boolean
  readonly state: PlacementState
  readonly candidateState: CandidateState | null
  readonly appliedRevision: number | null
  readonly error: string | null
  readonly deployedAt: number | null
}

/** In the order of placement; `withStages` includes those of their stages. */
export async function readGroupPlacements(
  queries: Queries,
  groupIds: readonly number[],
  { withStages = false }: { readonly withStages?: boolean } = {},
): Promise<GroupPlacement[]> {
  let places = queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .select([
      'placements.groupId',
      'placements.agentId',
      'agents.name as agentName',
      'agents.state as agentState',
      'agents.lastStateChangeAt as agentSince',
      'placements.deploymentId',
      'placements.stage',
      'placements.state',
      'placements.candidateState',
      'placements.appliedRevision',
      'placements.error',
      'placements.deployedAt',
      'placements.position',
    ])
    .where('placements.groupId', 'in', [...groupIds])
  if (!withStages) places = places.where('placements.stage', '=', 0)
  const rows = await places.execute()
  // Not by the database: SQLite would hold up the event loop until the first row comes.
  rows.sort((one, other) => one.groupId - other.groupId || one.position - other.position)
  return rows.map(toPlace)
}

/** Only the use cases write states. */
function toPlace<Row extends StoredPlacement>(row: Row) {
  return {
    ...row,
    deploymentId: row.deploymentId ?? noDeployment,
    stage: row.stage === 1,
    agentState: row.agentState as AgentState,
    state: row.state as PlacementState,
    candidateState: row.candidateState as CandidateState | null,
  }
}

interface StoredPlacement {
  readonly deploymentId: number | null
  readonly stage: number
  readonly agentState: number
  readonly state: string
  readonly candidateState: string | null
}

/** The agents that these groups are placed on, with their owners; excludes agents that have only a stage. */
export async function readGroupAgents(
  queries: Queries,
  groupIds: readonly number[],
): Promise<AgentOwner[]> {
  if (groupIds.length === 0) return []
  return queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .select(['agents.id', 'agents.organizationId'])
    .distinct()
    .where('placements.groupId', 'in', [...groupIds])
    .where('placements.stage', '=', 0)
    .orderBy('agents.id')
    .execute()
}

/** The number of equal placements of a group or its stage. */
export interface PlacementCount {
  readonly groupId: number
  readonly deploymentId: number
  readonly state: PlacementState
  readonly hasCandidate: boolean
  readonly candidateState: CandidateState | null
  readonly hasError: boolean
  readonly agentState: AgentState
  readonly count: number
}

/** Grouping holds up the event loop: these take some milliseconds. */
const countedAtOnce = 2_000

/**
 * For polling the progress of a group or its stage: returns few rows, however many agents there are; equal placements may
 * be in several. `hold`: returns none if the caller no longer owns the deploy.
 */
export async function countGroupPlacements(
  queries: Queries,
  holder: PlacementHolder,
  hold?: DeployHold,
  most = countedAtOnce,
): Promise<PlacementCount[]> {
  const counts: PlacementCount[] = []
  for (let afterId = 0; ;) {
    const rows = await countSome(queries, { ...holder, afterId, most }, hold).execute()
    counts.push(...rows.map(toAlike))
    if (rows.reduce((sum, { count }) => sum + count, 0) < most) return counts
    afterId = Math.max(...rows.map(({ lastId }) => lastId))
  }
}

interface Stretch extends PlacementHolder {
  readonly afterId: number
  readonly most: number
}

/** Counts the next placements by the ids of their agents. */
function countSome(
  queries: Queries,
  { groupId, stage, afterId, most }: Stretch,
  hold?: DeployHold,
) {
  const lastOfSome = queries
    .selectFrom('placements as some')
    .select('some.agentId')
    .where('some.groupId', '=', groupId)
    .where('some.stage', '=', stage ? 1 : 0)
    .where('some.agentId', '>', afterId)
    .orderBy('some.agentId')
    .limit(1)
    .offset(most - 1)
  const places = selectAlike(queries)
    .select((e) => e.fn.max<number>('placements.agentId').as('lastId'))
    .where('placements.groupId', '=', groupId)
    .where('placements.stage', '=', stage ? 1 : 0)
    .where('placements.agentId', '>', afterId)
    .where('placements.agentId', '<=', (e) =>
      e.fn.coalesce(lastOfSome, e.lit(Number.MAX_SAFE_INTEGER)),
    )
  return hold ? places.where((e) => e.exists(selectHeld(queries, hold))) : places
}

/** For many groups, without their stages. */
export async function countPlacementsOfGroups(
  queries: Queries,
  groupIds: readonly number[],
): Promise<PlacementCount[]> {
  return (await countOfGroups(queries, [writeIds(groupIds), 0])).map(toAlike)
}

const countOfGroups = prepareQuery((queries) =>
  selectAlike(queries)
    .where('placements.groupId', 'in', listIds([]))
    .where('placements.stage', '=', 0),
)

function selectAlike(queries: Queries) {
  const hasError = sql<number>`case when ${sql.ref('placements.error')} is null then 0 else 1 end`
  return queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .groupBy(['placements.groupId', 'placements.deploymentId', 'placements.state'])
    .groupBy(['placements.candidateName', 'placements.candidateState', 'agents.state', hasError])
    .select(['placements.groupId', 'placements.deploymentId', 'placements.state'])
    .select(['placements.candidateName', 'placements.candidateState'])
    .select((e) => ['agents.state as agentState', e.fn.countAll<number>().as('count')])
    .select(hasError.as('hasError'))
}

type AlikeRow = Awaited<ReturnType<ReturnType<typeof selectAlike>['executeTakeFirstOrThrow']>>

function toAlike({ candidateName, ...row }: AlikeRow): PlacementCount {
  // Only the use cases write states.
  return {
    ...row,
    deploymentId: row.deploymentId ?? noDeployment,
    hasCandidate: candidateName !== null,
    hasError: row.hasError === 1,
    agentState: row.agentState as AgentState,
    state: row.state as PlacementState,
    candidateState: row.candidateState as CandidateState | null,
  }
}
