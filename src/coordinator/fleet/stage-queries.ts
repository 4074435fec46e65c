/** Stages of groups (docs/behaviour.md, Stages), and the objects they refer to. Write under the decision lock. */
import type { Selectable } from 'kysely'
import type { StagedSources } from './stage.js'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

export interface StageRecord {
  readonly groupId: number
  readonly organizationId: number | null
  /** Counts the stages since the last promote or delstage, from 1. */
  readonly revision: number
  readonly sources: StagedSources
}

/** Sorted by group; without ids all. */
export async function readStages(
  queries: Queries,
  groupIds?: readonly number[],
): Promise<StageRecord[]> {
  let stages = queries.selectFrom('stages').selectAll().orderBy('groupId')
  if (groupIds) stages = stages.where('groupId', 'in', [...groupIds])
  return (await stages.execute()).map(fromRow)
}

export async function findStage(
  queries: Queries,
  groupId: number,
): Promise<StageRecord | undefined> {
  return (await readStages(queries, [groupId]))[0]
}

/** Replaces the existing stage. */
export async function writeStage(queries: Queries, stage: StageRecord, now: number): Promise<void> {
  const { groupId, organizationId, revision, sources } = stage
  const staged = { revision, sources: JSON.stringify(sources), sha: sources.sha, stagedAt: now }
  await queries
    .insertInto('stages')
    .values({ groupId, organizationId, ...staged })
    .onConflict((conflict) => conflict.column('groupId').doUpdateSet(staged))
    .execute()
  await replaceUses(queries, groupId, [sources])
}

export async function deleteStage(queries: Queries, groupId: number): Promise<void> {
  await queries.deleteFrom('stages').where('groupId', '=', groupId).execute()
  await replaceUses(queries, groupId, [])
}

/** Throws a foreign key violation if one of the used objects was deleted. */
export async function replaceUses(
  queries: Queries,
  groupId: number,
  staged: readonly StagedSources[],
): Promise<void> {
  await queries.deleteFrom('stageUses').where('groupId', '=', groupId).execute()
  const nothing = { groupId, tagId: null, fileId: null, domainId: null }
  const rows = staged.flatMap(({ stage, mainVCL, includes, domains }) => [
    ...stage.tagIds.map((tagId) => ({ ...nothing, tagId })),
    ...[mainVCL, ...includes].map(({ id }) => ({ ...nothing, fileId: id })),
    ...domains.map(({ id }) => ({ ...nothing, domainId: id })),
  ])
  if (rows.length > 0) await queries.insertInto('stageUses').values(rows).execute()
}

function fromRow(row: Selectable<Tables['stages']>): StageRecord {
  const { groupId, organizationId, revision } = row
  // Written by writeStage only.
  return { groupId, organizationId, revision, sources: JSON.parse(row.sources) as StagedSources }
}
