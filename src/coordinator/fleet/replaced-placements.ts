/**
 * Placements that a group takes over from others: each stays loaded and serves until the group switches on that agent, and
 * is deleted in the same transaction. Call writing functions under the decision lock.
 */
import { sql } from 'kysely'
import type { HeldPlacement } from './placement-input.js'
import { groupBy } from '../../group-by.js'
import { inPieces } from '../store/in-pieces.js'
import { ownedBy, type NamedReference } from '../store/owner.js'
import type { Queries } from '../store/store.js'

/** The other groups of the same owner, without those of the console: their caches cannot be taken over. */
export async function readReplaceable(
  queries: Queries,
  group: { readonly id: number; readonly organizationId: number | null },
): Promise<ReadonlySet<number>> {
  const rows = await queries
    .selectFrom('vclGroups')
    .select('id')
    .where(ownedBy(group.organizationId, 'vclGroups'))
    .where('console', '=', 0)
    .where('id', '!=', group.id)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** `leaving`: they are removed, whatever the outcome of the group there. */
export async function markReplaced(
  queries: Queries,
  groupId: number,
  places: readonly HeldPlacement[],
  { leaving = false }: { readonly leaving?: boolean } = {},
): Promise<void> {
  for (const [holder, held] of groupBy(places, (place) => place.holder))
    await inPieces(held, (piece) =>
      queries
        .updateTable('placements')
        .set({ replacedBy: groupId, leaving: leaving ? 1 : 0 })
        .where('groupId', '=', Math.abs(holder))
        .where('stage', '=', holder < 0 ? 1 : 0)
        .where(
          'agentId',
          'in',
          piece.map(({ agentId }) => agentId),
        )
        .execute(),
    )
}

/** The group has switched on these agents. Returns the groups that lost a placement there; they end if it was their last. */
export async function takeReplaced(
  queries: Queries,
  groupId: number,
  agentIds: readonly number[],
): Promise<readonly number[]> {
  const taken = await findTaken(queries, groupId, agentIds)
  const gone = await inPieces(taken, (ids) =>
    queries
      .deleteFrom('placements')
      .where('replacedBy', '=', groupId)
      .where('agentId', 'in', ids)
      .returning(['groupId', 'stage', 'leaving'])
      .execute(),
  )
  const left = gone.filter(({ stage, leaving }) => stage === 0 && leaving === 0)
  return [...new Set(left.map((place) => place.groupId))]
}

/** Returns the agents where a placement waits for the switch: usually none of a whole fleet. */
async function findTaken(
  queries: Queries,
  groupId: number,
  agentIds: readonly number[],
): Promise<readonly number[]> {
  const waiting = await queries
    .selectFrom('placements')
    .select('agentId')
    .distinct()
    .where('replacedBy', '=', groupId)
    .execute()
  const switched = new Set(agentIds)
  return waiting.map(({ agentId }) => agentId).filter((id) => switched.has(id))
}

/** Placements that no group is about to take over any more stay with their groups. Returns their agents. */
export async function releaseReplaced(queries: Queries): Promise<readonly number[]> {
  const { rows } = await sql<{ agentId: number }>`
    update placements set "replacedBy" = null, leaving = 0
    where "replacedBy" is not null and not exists (
      select 1 from placements taker where taker."groupId" = placements."replacedBy"
        and taker."agentId" = placements."agentId" and taker.stage = 0
        and taker."candidateName" is not null)
    returning "agentId"`.execute(queries)
  return [...new Set(rows.map(({ agentId }) => agentId))]
}

/** Returns these groups and those whose placements the group is still about to take over. */
export async function readReplaced(
  queries: Queries,
  groupId: number,
  takenIds: readonly number[],
): Promise<NamedReference[]> {
  return await queries
    .selectFrom('vclGroups')
    .select(['id', 'name'])
    .where((e) => {
      const late = e
        .selectFrom('placements')
        .select('placements.groupId')
        .where('placements.stage', '=', 0)
        .where('placements.leaving', '=', 0)
        .where('placements.replacedBy', '=', groupId)
      const isLate = e('id', 'in', late)
      return takenIds.length === 0 ? isLate : e.or([isLate, e('id', 'in', [...takenIds])])
    })
    .orderBy('id')
    .execute()
}

/** Groups with a placement that a deploy in phase one takes over. */
export async function readBeingReplaced(
  queries: Queries,
  groupIds?: readonly number[],
): Promise<number[]> {
  let places = queries
    .selectFrom('placements')
    .select('groupId')
    .distinct()
    .where('replacedBy', 'in', (e) => e.selectFrom('deploys').select('deploys.groupId'))
  if (groupIds) places = places.where('groupId', 'in', [...groupIds])
  return (await places.execute()).map(({ groupId }) => groupId)
}

/** Whether a deploy of the group takes over placements that other groups would otherwise keep. */
export async function isReplacing(queries: Queries, groupId: number): Promise<boolean> {
  const place = await queries
    .selectFrom('placements')
    .select('agentId')
    .where('replacedBy', '=', groupId)
    .where('leaving', '=', 0)
    .limit(1)
    .executeTakeFirst()
  return place !== undefined
}

/** Returns the groups that have no placement. */
export async function findUnplaced(
  queries: Queries,
  groupIds: readonly number[],
): Promise<number[]> {
  if (groupIds.length === 0) return []
  const placed = await queries
    .selectFrom('placements')
    .select('groupId')
    .distinct()
    .where('groupId', 'in', [...groupIds])
    .where('stage', '=', 0)
    .where((e) => e.or([e('currentName', 'is not', null), e('candidateName', 'is not', null)]))
    .execute()
  const ids = new Set(placed.map(({ groupId }) => groupId))
  return groupIds.filter((id) => !ids.has(id))
}

/** Names of one owner's groups by id, for messages to its users. */
export async function readGroupNames(
  queries: Queries,
  organizationId: number | null,
): Promise<ReadonlyMap<number, string>> {
  const rows = await queries
    .selectFrom('vclGroups')
    .select(['id', 'name'])
    .where(ownedBy(organizationId, 'vclGroups'))
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
