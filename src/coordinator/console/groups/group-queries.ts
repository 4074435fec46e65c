/** Groups in the console: its own, and the controller's root groups, which are read-only. Their caches: group-members.ts. */
import type { Selectable } from 'kysely'
import { switchedSources } from '../../fleet/history-queries.js'
import type { Tables } from '../../store/schema.js'
import { within, type Scope } from '../../store/scope.js'
import type { Queries } from '../../store/store.js'
import { updateRow } from '../../store/write-rows.js'
import { insertGroup, parseRelease } from '../../fleet/group-queries.js'

export interface ConsoleGroupRecord {
  readonly id: number
  /** Null: the system administrator's own. */
  readonly organizationId: number | null
  readonly name: string
  /** False: a root group of the controller, which is changed there. */
  readonly console: boolean
  readonly description: string
  /** Shown on the first page. */
  readonly overviewGroup: boolean
  /** The branch that its caches should run; null: none. */
  readonly mainFileId: number | null
  /** The commit that its caches were switched to; null: none. */
  readonly deployedCommit: { readonly fileId: number; readonly version: number } | null
  /** The branch of the newest deploy, which may still wait for caches; null: nothing to deploy. */
  readonly desiredFileId: number | null
  readonly paramSetId: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** By id. */
export async function readConsoleGroups(
  queries: Queries,
  scope: Scope,
  { id }: { readonly id?: number } = {},
): Promise<ConsoleGroupRecord[]> {
  const rows = await queries
    .selectFrom('vclGroups')
    .leftJoin('consoleGroups', 'consoleGroups.groupId', 'vclGroups.id')
    .selectAll('vclGroups')
    .select(['consoleGroups.description', 'consoleGroups.overviewGroup'])
    .select('consoleGroups.paramSetId')
    .select((e) =>
      e.case().when('vclGroups.wishPending', '=', 1).then(switchedSources()).end().as('switched'),
    )
    .where(within(scope, 'vclGroups'))
    .where('vclGroups.root', '=', 1)
    .$if(id !== undefined, (query) => query.where('vclGroups.id', '=', id ?? 0))
    .orderBy('vclGroups.id')
    .execute()
  return rows.map(fromRow)
}

export interface ConsoleGroupFields {
  readonly name: string
  readonly description: string
  readonly overviewGroup: boolean
}

export async function insertConsoleGroup(
  queries: Queries,
  keys: { readonly organizationId: number | null; readonly cacheKey: string },
  { name, description, overviewGroup }: ConsoleGroupFields,
  now: number,
): Promise<number> {
  const id = await insertGroup(
    queries,
    { ...keys, console: true },
    {
      name,
      root: true,
      keepOnFailure: true,
      mainFileId: null,
      mainFileVersion: null,
      includeIds: [],
      testIds: [],
      requireTests: false,
      domainIds: [],
      deploymentIds: [],
      releases: null,
      rollout: null,
      managedBy: null,
    },
    now,
  )
  await queries
    .insertInto('consoleGroups')
    .values({ groupId: id, description, overviewGroup: toFlag(overviewGroup) })
    .execute()
  return id
}

/** A field that is left out keeps its value. */
export type ConsoleGroupChange = {
  readonly [Field in keyof ConsoleGroupFields]?: ConsoleGroupFields[Field] | undefined
}

export async function updateConsoleGroup(
  queries: Queries,
  id: number,
  { name, description, overviewGroup }: ConsoleGroupChange,
  now: number,
): Promise<void> {
  await queries
    .updateTable('vclGroups')
    .set({ ...(name !== undefined && { name }), updatedAt: now })
    .where('id', '=', id)
    .execute()
  const columns = {
    ...(description !== undefined && { description }),
    ...(overviewGroup !== undefined && { overviewGroup: toFlag(overviewGroup) }),
  }
  if (Object.keys(columns).length > 0)
    await queries.updateTable('consoleGroups').set(columns).where('groupId', '=', id).execute()
}

/** Notes a change of its relations. */
export async function touchConsoleGroup(queries: Queries, id: number, now: number): Promise<void> {
  await updateRow(queries, 'vclGroups', id, { updatedAt: now })
}

interface GroupRow extends Selectable<Tables['vclGroups']> {
  readonly description: string | null
  readonly overviewGroup: 0 | 1 | null
  readonly paramSetId: number | null
  /** The same as the desired release, while that waits for caches. */
  readonly switched: string | null
}

function fromRow(row: GroupRow): ConsoleGroupRecord {
  const desired = parseRelease(row.wish)?.mainVCL
  const main = row.wishPending === 1 ? parseRelease(row.switched)?.mainVCL : desired
  return {
    id: row.id,
    organizationId: row.organizationId,
    name: row.name,
    console: row.console === 1,
    description: row.description ?? '',
    overviewGroup: row.overviewGroup === 1,
    mainFileId: row.mainFileId,
    deployedCommit: main ? { fileId: main.id, version: main.version } : null,
    desiredFileId: desired?.id ?? null,
    paramSetId: row.paramSetId,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

function toFlag(is: boolean): 0 | 1 {
  return is ? 1 : 0
}
