/** Each group's placement on each agent: the VCL that serves, the one being loaded, the one that served before. */
import { sql } from 'kysely'
import { runInSteps } from '../../in-steps.js'
import type { PlacementHolder } from './agent-index.js'
import { divideChanges, type AlikeChange } from './alike-changes.js'
import type { PlacedProgram } from '../../vcl/desired-engine.js'
import type { PlacementState } from './vcl-group.js'
import { savePlacementDomains } from './placement-domains.js'
import { fromRows, toRow, type PlacementRow } from './placement-rows.js'
import { listIds, prepareGiven, writeIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import { prepareSave } from '../store/save-rows.js'
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
  return fromRows(rows.toSorted(compareRows))
}

function compareRows(one: Placed, other: Placed): number {
  return (
    one.groupId - other.groupId ||
    Number(one.stage) - Number(other.stage) ||
    one.position - other.position
  )
}

type Placed = Pick<PlacementRow, 'groupId' | 'position'> & { readonly stage: number | boolean }

/** All placements of one holder on the agents that are asked for. */
export interface KnownPlacements extends PlacementHolder {
  readonly placements: readonly PlacementRecord[]
}

/** Returns a function that reads agents' placements as `readPlacements` does, without those that are known already. */
export function readWith({ groupId, stage, placements }: KnownPlacements) {
  const known = new Map(placements.map((placement) => [placement.agentId, placement]))
  return async (queries: Queries, agentIds: readonly number[]): Promise<PlacementRecord[]> => {
    const others = await selectOthers(queries, [writeIds(agentIds), groupId, stage ? 1 : 0])
    const own = agentIds.flatMap((id) => known.get(id) ?? [])
    return [...own, ...fromRows(others)].toSorted(compareRows)
  }
}

const selectOthers = prepareQuery((queries) =>
  selectAll(queries)
    .where('agentId', 'in', listIds([]))
    .where((e) => e.not(e.and([e('groupId', '=', 0), e('stage', '=', 0)]))),
)

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

/**
 * Writes placements, new and changed, and the domains that they claim. Throws a unique violation if another group holds
 * one of them on that agent. Call under the decision lock: reports change these rows too. `before`: some of them as they
 * were read in this transaction; of those, what changed is written, otherwise whole rows.
 */
export async function savePlacements(
  queries: Queries,
  placements: readonly PlacementRecord[],
  before: readonly PlacementRecord[] = [],
): Promise<void> {
  if (placements.length === 0) return
  const { alike, whole } = await runInSteps(divideChanges(placements, before))
  for (const change of alike) await changeAlike(queries, change)
  await saveRows(queries, whole.map(toRow))
  await savePlacementDomains(queries, placements)
}

async function changeAlike(
  queries: Queries,
  { groupId, stage, agentIds, columns }: AlikeChange,
): Promise<void> {
  await inPieces(agentIds, (ids) =>
    queries
      .updateTable('placements')
      .set(columns)
      .where('groupId', '=', groupId)
      .where('stage', '=', stage ? 1 : 0)
      .where('agentId', 'in', listIds(ids))
      .execute(),
  )
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
