/** Each group's placement on each agent: the VCL that serves, the one being loaded, the one that served before. */
import { sql, type Insertable, type Selectable } from 'kysely'
import type { PlacementHolder } from './agent-index.js'
import type { PlacedProgram } from '../../vcl/desired-engine.js'
import { noDeployment } from './placement-input.js'
import type { PlacementState } from './vcl-group.js'
import { savePlacementDomains } from './placement-domains.js'
import { listIds, prepareGiven, writeIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import { prepareSave } from '../store/save-rows.js'
import type { Tables } from '../store/schema.js'
import { placementTables } from '../store/tables/groups.js'
import type { Queries } from '../store/store.js'

export type CandidateState = 'pending' | 'loaded' | 'failed'

export interface PlacementRecord {
  readonly groupId: number
  readonly agentId: number
  readonly organizationId: number | null
  /** `noDeployment` for a stage and for a group of the console. */
  readonly deploymentId: number
  /** Order of placement; the highest is removed first. */
  readonly position: number
  readonly state: PlacementState
  readonly wantedRevision: number
  readonly appliedRevision: number | null
  readonly current: PlacedProgram | null
  readonly candidate: PlacedProgram | null
  readonly candidateState: CandidateState | null
  readonly previous: PlacedProgram | null
  readonly error: string | null
  readonly deployedAt: number | null
  /** The agent went Down with most of the fleet: the placement stays until it returns or the group is deployed again. */
  readonly keptDown: boolean
  /** The placement of the group's stage, which may exist beside the group's own. */
  readonly stage: boolean
  /** The agent no longer fits: the placement is removed, whether or not its replacement serves there. */
  readonly leaving: boolean
  /** The group that takes over this placement when it switches here; until then both are loaded, and this one serves. */
  readonly replacedBy: number | null
}

/** `stage`: true for stages only, false for none; omitted: both. */
export async function readPlacements(
  queries: Queries,
  of: {
    readonly groupIds?: readonly number[]
    readonly agentIds?: readonly number[]
    readonly stage?: boolean
  },
): Promise<PlacementRecord[]> {
  const rows = await selectRows(queries, of)
  // Not by the database: SQLite would sort whole rows, and hold up the event loop until the first one comes.
  return rows.toSorted(compareRows).map(fromRow)
}

function compareRows(one: PlacementRow, other: PlacementRow): number {
  return one.groupId - other.groupId || one.stage - other.stage || one.position - other.position
}

function selectRows(
  queries: Queries,
  { groupIds, agentIds, stage }: Parameters<typeof readPlacements>[1],
) {
  if (agentIds && !groupIds && stage === undefined)
    return selectOfAgents(queries, [writeIds(agentIds)])
  let placements = selectAll(queries)
  if (groupIds) placements = placements.where('groupId', 'in', [...groupIds])
  if (agentIds) placements = placements.where('agentId', 'in', listIds(agentIds))
  if (stage !== undefined) placements = placements.where('stage', '=', stage ? 1 : 0)
  return placements.execute()
}

/** Runs for every batch of reports. */
const selectOfAgents = prepareQuery((queries) =>
  selectAll(queries).where('agentId', 'in', listIds([])),
)

function selectAll(queries: Queries) {
  return queries.selectFrom('placements').selectAll()
}

type PlacementRow = Selectable<Tables['placements']>

/**
 * Writes whole rows, new and changed, and the domains that they claim. Throws a unique violation if another group holds
 * one of them on that agent. Call under the decision lock: reports change these rows too.
 */
export async function savePlacements(
  queries: Queries,
  placements: readonly PlacementRecord[],
): Promise<void> {
  await saveRows(queries, placements.map(toRow))
  await savePlacementDomains(queries, placements)
}

const saveRows = prepareSave('placements', placementTables.placements)

/** Writes what reports change in placements, which excludes their VCLs. Deleted placements are skipped. */
export async function writeReportedPlaces(
  queries: Queries,
  placements: readonly PlacementRecord[],
): Promise<void> {
  await updateReported(
    queries,
    placements.map(({ stage, ...place }) => ({ ...place, stage: stage ? 1 : 0 })),
  )
}

const updateReported = prepareGiven(
  {
    groupId: 'bigint',
    agentId: 'bigint',
    stage: 'bigint',
    state: 'text',
    appliedRevision: 'bigint',
    candidateState: 'text',
    error: 'text',
    deployedAt: 'bigint',
  },
  (given) => sql`
    update placements set state = ${given.state}, "appliedRevision" = ${given.appliedRevision},
      "candidateState" = ${given.candidateState}, error = ${given.error}, "deployedAt" = ${given.deployedAt}
    ${given.from} where placements."groupId" = ${given.groupId}
      and placements."agentId" = ${given.agentId} and placements.stage = ${given.stage}`,
)

export async function deletePlacements(
  queries: Queries,
  { groupId, stage }: PlacementHolder,
  agentIds: readonly number[],
): Promise<void> {
  await inPieces(agentIds, (ids) =>
    queries
      .deleteFrom('placements')
      .where('groupId', '=', groupId)
      .where('stage', '=', stage ? 1 : 0)
      .where('agentId', 'in', ids)
      .execute(),
  )
}

export function toProgram(
  name: string | null,
  sha: string | null,
  fqdns: string | null,
): PlacedProgram | null {
  if (name === null || sha === null) return null
  return { name, sha, fqdns: fqdns === null ? null : (JSON.parse(fqdns) as string[]) } // written by toRow only
}

function fqdnsJson(placed: PlacedProgram | null): string | null {
  return placed?.fqdns ? JSON.stringify(placed.fqdns) : null
}

function fromRow(row: PlacementRow): PlacementRecord {
  return {
    groupId: row.groupId,
    agentId: row.agentId,
    organizationId: row.organizationId,
    deploymentId: row.deploymentId ?? noDeployment,
    position: row.position,
    state: row.state as PlacementState, // written by savePlacements and the report recorder only
    wantedRevision: row.wantedRevision,
    appliedRevision: row.appliedRevision,
    current: toProgram(row.currentName, row.currentSha, row.currentFqdns),
    candidate: toProgram(row.candidateName, row.candidateSha, row.candidateFqdns),
    candidateState: row.candidateState as CandidateState | null, // as above
    previous: toProgram(row.previousName, row.previousSha, row.previousFqdns),
    error: row.error,
    deployedAt: row.deployedAt,
    keptDown: row.keptDown === 1,
    stage: row.stage === 1,
    leaving: row.leaving === 1,
    replacedBy: row.replacedBy,
  }
}

const noProgram = { name: null, sha: null }

function toRow(placement: PlacementRecord): Insertable<Tables['placements']> {
  const current = placement.current ?? noProgram
  const candidate = placement.candidate ?? noProgram
  const previous = placement.previous ?? noProgram
  return {
    groupId: placement.groupId,
    agentId: placement.agentId,
    organizationId: placement.organizationId,
    deploymentId: placement.deploymentId === noDeployment ? null : placement.deploymentId,
    position: placement.position,
    state: placement.state,
    wantedRevision: placement.wantedRevision,
    appliedRevision: placement.appliedRevision,
    currentName: current.name,
    currentSha: current.sha,
    candidateName: candidate.name,
    candidateSha: candidate.sha,
    candidateState: placement.candidateState,
    previousName: previous.name,
    previousSha: previous.sha,
    currentFqdns: fqdnsJson(placement.current),
    candidateFqdns: fqdnsJson(placement.candidate),
    previousFqdns: fqdnsJson(placement.previous),
    error: placement.error,
    deployedAt: placement.deployedAt,
    keptDown: placement.keptDown ? 1 : 0,
    stage: placement.stage ? 1 : 0,
    leaving: placement.leaving ? 1 : 0,
    replacedBy: placement.replacedBy,
  }
}
