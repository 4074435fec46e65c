/**
 * The branches of the console: main files, and other files that its groups use as main file, with the groups that use them
 * (`branch.ts`).
 */
import { groupBy } from '../../group-by.js'
import type { AgentState } from '../../resources/agent-state.js'
import type { BranchCache, BranchLocation } from './branch.js'
import { fileTypes } from '../../resources/file.js'
import { selectFiles, toFile, type FileRecord } from './file-queries.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type BranchRecord = FileRecord & BranchLocation & { readonly description: string }

/** By id, in two queries for any number of branches. `id`: only this branch. */
export async function readBranches(
  queries: Queries,
  scope: Scope,
  id?: number,
): Promise<BranchRecord[]> {
  let files = selectFiles(queries, scope).where((e) =>
    e.or([
      e('files.fileType', '=', fileTypes.main),
      e('files.id', 'in', e.selectFrom('vclGroups').select('mainFileId').where('console', '=', 1)),
    ]),
  )
  if (id !== undefined) files = files.where('files.id', '=', id)
  const rows = await files.orderBy('files.id').execute()
  if (rows.length === 0) return []
  const users = groupBy(await readUsers(queries, scope, id), (row) => row.fileId)
  return rows.map((row) => ({
    ...toFile(row),
    organizationId: row.organizationId,
    description: row.description,
    groupIds: (users.get(row.id) ?? []).map(({ groupId }) => groupId),
  }))
}

/** The groups that use a file as main file, as an include, or in their stage. */
async function readUsers(queries: Queries, scope: Scope, id: number | undefined) {
  const mains = queries.selectFrom('vclGroups').select(['id as groupId', 'mainFileId as fileId'])
  const includes = queries.selectFrom('vclGroupIncludes').select(['groupId', 'fileId'])
  const staged = queries.selectFrom('stageUses').select(['groupId', 'fileId'])
  const uses = queries
    .selectFrom(mains.union(includes).union(staged).as('uses'))
    .innerJoin('files', 'files.id', 'uses.fileId')
    .select(['uses.groupId', 'files.id as fileId'])
    .where(within(scope, 'files'))
  return (id === undefined ? uses : uses.where('files.id', '=', id)).execute()
}

/** The distinct caches of all console groups that have this branch. */
export async function readBranchCaches(queries: Queries, id: number): Promise<BranchCache[]> {
  const rows = await queries
    .selectFrom('vclGroups')
    .innerJoin('groupMembers', 'groupMembers.groupId', 'vclGroups.id')
    .innerJoin('agents', 'agents.id', 'groupMembers.agentId')
    .select(['agents.id', 'agents.name', 'agents.state'])
    .select(['agents.engineProduct as product', 'agents.engineVersion as version'])
    .distinct()
    .where('vclGroups.mainFileId', '=', id)
    .orderBy('agents.id')
    .execute()
  return rows.map(({ id, name, state, ...release }) => ({
    id,
    name,
    release,
    state: state as AgentState, // only written by the use cases
  }))
}

/** Whether a group of the console has this branch. */
export async function isInConsoleGroup(queries: Queries, id: number): Promise<boolean> {
  const row = await queries
    .selectFrom('vclGroups')
    .select('id')
    .where('mainFileId', '=', id)
    .where('console', '=', 1)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Sets the branch for the caches of a console group; returns false if the branch or the group no longer exists. */
export async function relateBranch(
  queries: Queries,
  groupId: number,
  fileId: number,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('vclGroups')
    .set({ mainFileId: fileId, mainFileVersion: null, updatedAt: now })
    .where('id', '=', groupId)
    .where('console', '=', 1)
    .where((e) => e.exists(e.selectFrom('files').select('id').where('id', '=', fileId)))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns false if the group has another branch, or none. */
export async function unrelateBranch(
  queries: Queries,
  groupId: number,
  fileId: number,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('vclGroups')
    .set({ mainFileId: null, updatedAt: now })
    .where('id', '=', groupId)
    .where('console', '=', 1)
    .where('mainFileId', '=', fileId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
