/** Each group's place on each agent: what serves there, what is being loaded, what served before. */
import type { Insertable, Selectable } from 'kysely'
import type { DesiredProgram } from '../domain/desired-engine.js'
import type { PlacementState } from '../domain/vcl-group.js'
import type { PlacementsTable } from './schema.js'
import type { Queries } from './store.js'

export type CandidateState = 'pending' | 'loaded' | 'failed'

export interface PlacementRecord {
  readonly groupId: number
  readonly agentId: number
  readonly organizationId: number | null
  readonly deploymentId: number
  /** Order of placement; the highest leaves first. */
  readonly position: number
  readonly state: PlacementState
  readonly wantedRevision: number
  readonly appliedRevision: number | null
  readonly current: DesiredProgram | null
  readonly candidate: DesiredProgram | null
  readonly candidateState: CandidateState | null
  readonly previous: DesiredProgram | null
  readonly error: string | null
  readonly deployedAt: number | null
}

/** Rows a statement: 17 columns each, far below the 32,766 parameters of SQLite and the 65,535 of PostgreSQL. */
const rowsPerStatement = 500

export async function readPlacements(
  queries: Queries,
  of: { readonly groupIds?: readonly number[]; readonly agentIds?: readonly number[] },
): Promise<PlacementRecord[]> {
  let placements = queries.selectFrom('placements').selectAll()
  if (of.groupIds) placements = placements.where('groupId', 'in', [...of.groupIds])
  if (of.agentIds) placements = placements.where('agentId', 'in', [...of.agentIds])
  const rows = await placements.orderBy('groupId').orderBy('position').execute()
  return rows.map(fromRow)
}

/** Writes whole rows, new ones and changed ones. Call under the decision lock: reports change these rows too. */
export async function savePlacements(
  queries: Queries,
  placements: readonly PlacementRecord[],
): Promise<void> {
  for (let start = 0; start < placements.length; start += rowsPerStatement) {
    const rows = placements.slice(start, start + rowsPerStatement).map(toRow)
    await queries
      .insertInto('placements')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['groupId', 'agentId']).doUpdateSet((e) => ({
          deploymentId: e.ref('excluded.deploymentId'),
          position: e.ref('excluded.position'),
          state: e.ref('excluded.state'),
          wantedRevision: e.ref('excluded.wantedRevision'),
          appliedRevision: e.ref('excluded.appliedRevision'),
          currentName: e.ref('excluded.currentName'),
          currentSha: e.ref('excluded.currentSha'),
          candidateName: e.ref('excluded.candidateName'),
          candidateSha: e.ref('excluded.candidateSha'),
          candidateState: e.ref('excluded.candidateState'),
          previousName: e.ref('excluded.previousName'),
          previousSha: e.ref('excluded.previousSha'),
          error: e.ref('excluded.error'),
          deployedAt: e.ref('excluded.deployedAt'),
        })),
      )
      .execute()
  }
}

export async function deletePlacements(
  queries: Queries,
  groupId: number,
  agentIds: readonly number[],
): Promise<void> {
  for (let start = 0; start < agentIds.length; start += rowsPerStatement)
    await queries
      .deleteFrom('placements')
      .where('groupId', '=', groupId)
      .where('agentId', 'in', agentIds.slice(start, start + rowsPerStatement))
      .execute()
}

function program(name: string | null, sha: string | null): DesiredProgram | null {
  return name === null || sha === null ? null : { name, sha }
}

function fromRow(row: Selectable<PlacementsTable>): PlacementRecord {
  return {
    groupId: row.groupId,
    agentId: row.agentId,
    organizationId: row.organizationId,
    deploymentId: row.deploymentId,
    position: row.position,
    state: row.state as PlacementState, // written by savePlacements and the report recorder only
    wantedRevision: row.wantedRevision,
    appliedRevision: row.appliedRevision,
    current: program(row.currentName, row.currentSha),
    candidate: program(row.candidateName, row.candidateSha),
    candidateState: row.candidateState as CandidateState | null, // as above
    previous: program(row.previousName, row.previousSha),
    error: row.error,
    deployedAt: row.deployedAt,
  }
}

const noProgram = { name: null, sha: null }

function toRow(placement: PlacementRecord): Insertable<PlacementsTable> {
  const current = placement.current ?? noProgram
  const candidate = placement.candidate ?? noProgram
  const previous = placement.previous ?? noProgram
  return {
    groupId: placement.groupId,
    agentId: placement.agentId,
    organizationId: placement.organizationId,
    deploymentId: placement.deploymentId,
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
    error: placement.error,
    deployedAt: placement.deployedAt,
  }
}
