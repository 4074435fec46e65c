/** The agents in each group of the console. A root group of the controller has the agents that it is placed on. */
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

export interface GroupOfAgent {
  readonly id: number
  readonly name: string
  readonly organizationId: number | null
  /** False: a root group of the controller that is placed there. */
  readonly console: boolean
}

/** The caller has checked that it may join. Throws a unique violation if it is already in a group. */
export async function insertMember(
  queries: Queries,
  groupId: number,
  agentId: number,
): Promise<void> {
  await queries.insertInto('groupMembers').values({ groupId, agentId }).execute()
}

/** Returns false if it was in another group or in none. */
export async function deleteMember(
  queries: Queries,
  groupId: number,
  agentId: number,
): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('groupMembers')
    .where('agentId', '=', agentId)
    .where('groupId', '=', groupId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Groups by agent id; agents without a group are omitted. Two queries per thousand agents. */
export async function readGroupsOfAgents(
  queries: Queries,
  agentIds: readonly number[],
): Promise<Map<number, GroupOfAgent>> {
  const rows = await inPieces(agentIds, async (ids) => [
    ...(await selectRootPlacements(queries).where('placements.agentId', 'in', ids).execute()),
    // Membership takes precedence over what the cache still holds.
    ...(await selectMembers(queries).where('groupMembers.agentId', 'in', ids).execute()),
  ])
  return new Map(
    rows.map(({ agentId, console, ...group }) => [agentId, { ...group, console: console === 1 }]),
  )
}

/** Sorted agent ids by group id. Two queries per thousand groups. */
export async function readAgentsOfGroups(
  queries: Queries,
  groupIds: readonly number[],
): Promise<Map<number, number[]>> {
  const rows = await inPieces(groupIds, async (ids) => [
    ...(await selectMembers(queries).where('vclGroups.id', 'in', ids).execute()),
    ...(await selectRootPlacements(queries).where('vclGroups.id', 'in', ids).execute()),
  ])
  const found = new Map<number, number[]>(groupIds.map((id) => [id, []]))
  for (const { id, agentId } of rows) found.get(id)?.push(agentId)
  return found
}

function selectMembers(queries: Queries) {
  return queries
    .selectFrom('groupMembers')
    .innerJoin('vclGroups', 'vclGroups.id', 'groupMembers.groupId')
    .select(['groupMembers.agentId', 'vclGroups.id', 'vclGroups.name'])
    .select(['vclGroups.organizationId', 'vclGroups.console'])
    .orderBy('groupMembers.agentId')
}

/** Groups of the controller, with and without domains, and their stages. */
export async function readControllerGroupsOn(
  queries: Queries,
  agentId: number,
): Promise<GroupOfAgent[]> {
  const rows = await selectPlacements(queries).where('placements.agentId', '=', agentId).execute()
  return rows.map((row) => ({ ...row, console: false }))
}

function selectRootPlacements(queries: Queries) {
  return selectPlacements(queries).where('vclGroups.root', '=', 1).where('placements.stage', '=', 0)
}

/** Where groups of the controller serve or are being loaded; a VCL that failed before it ever served holds no placement. */
function selectPlacements(queries: Queries) {
  return queries
    .selectFrom('placements')
    .innerJoin('vclGroups', 'vclGroups.id', 'placements.groupId')
    .select(['placements.agentId', 'vclGroups.id', 'vclGroups.name'])
    .select(['vclGroups.organizationId', 'vclGroups.console'])
    .where('vclGroups.console', '=', 0)
    .where((e) =>
      e.or([
        e('placements.currentName', 'is not', null),
        e('placements.candidateName', 'is not', null),
      ]),
    )
    .orderBy('placements.agentId')
}
