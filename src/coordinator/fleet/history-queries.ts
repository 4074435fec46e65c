/** The history of a group: one entry per deploy, including failed ones (docs/behaviour.md, History). */
import { sql, type RawBuilder, type Selectable } from 'kysely'
import { parseSources, type Release } from './vcl-group.js'
import { inPieces } from '../store/in-pieces.js'
import type { NamedReference } from '../store/owner.js'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

/** Entries kept per group; older ones are deleted. */
const entriesKept = 1000

/** The account name under which the coordinator itself runs pending deploys. */
export const placementAccount = 'placement'

export type GroupAction =
  | 'adopt'
  | 'deploy'
  | 'undeploy'
  | 'reload'
  | 'rollback'
  | 'stage'
  | 'promote'
  | 'delstage'

/** Actions that create no revision: their entries have the group's revision at that time. */
const withoutRevision = ['undeploy', 'stage', 'delstage'] satisfies readonly GroupAction[]

export interface HistoryEntry {
  readonly groupId: number
  readonly organizationId: number | null
  /** Null: a failed deploy. */
  readonly revision: number | null
  readonly at: number
  readonly account: string
  readonly action: GroupAction
  /** 'ok' or the error text. */
  readonly result: string
  readonly sources: Release
  /** The groups whose placements it took over. */
  readonly replaced?: readonly NamedReference[]
  /** The group that took over its last placement. */
  readonly replacedBy?: NamedReference
}

/** `deployId`: the deploy that ended with this entry. */
export async function addHistory(
  queries: Queries,
  entry: HistoryEntry,
  deployId: number | null = null,
): Promise<void> {
  if (await isRepeated(queries, entry)) return
  const { id } = await queries
    .insertInto('history')
    .values({
      ...entry,
      sources: JSON.stringify(entry.sources),
      sha: entry.sources.sha,
      replaced: entry.replaced ? JSON.stringify(entry.replaced) : null,
      replacedBy: entry.replacedBy ? JSON.stringify(entry.replacedBy) : null,
      deployId,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const oldest = queries
    .selectFrom('history')
    .select('id')
    .where('groupId', '=', entry.groupId)
    .orderBy('id', 'desc')
    .offset(entriesKept)
    .limit(1)
  await queries
    .deleteFrom('history')
    .where('groupId', '=', entry.groupId)
    .where('id', '<=', oldest)
    .where('id', '<', id)
    .execute()
}

/** Repeated automatic failures must not displace revisions that an administrator may want to roll back to. */
async function isRepeated(queries: Queries, entry: HistoryEntry): Promise<boolean> {
  if (entry.account !== placementAccount || entry.revision !== null) return false
  const last = await queries
    .selectFrom('history')
    .select(['account', 'revision', 'action', 'result', 'sha'])
    .where('groupId', '=', entry.groupId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (
    last?.account === entry.account &&
    last.revision === null &&
    last.action === entry.action &&
    last.result === entry.result &&
    last.sha === entry.sources.sha
  )
}

/** Newest first. */
export async function readHistory(queries: Queries, groupId: number): Promise<HistoryEntry[]> {
  const rows = await queries
    .selectFrom('history')
    .selectAll()
    .where('groupId', '=', groupId)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(fromRow)
}

/** Returns the result of the deploy: 'ok' or the error text; undefined while it is in progress. */
export async function findDeployResult(
  queries: Queries,
  { id, groupId }: { readonly id: number; readonly groupId: number },
): Promise<string | undefined> {
  const row = await queries
    .selectFrom('history')
    .select('result')
    .where('groupId', '=', groupId)
    .where('deployId', '=', id)
    .executeTakeFirst()
  return row?.result
}

export type FailedDeploy = Pick<HistoryEntry, 'at' | 'result'>

/** Returns, by group id, the groups whose newest entry is a failed deploy. */
export async function readFailedDeploys(
  queries: Queries,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, FailedDeploy>> {
  const rows = await inPieces(groupIds, (ids) =>
    queries
      .selectFrom('history')
      .select(['groupId', 'at', 'result'])
      .where('id', 'in', (e) =>
        e
          .selectFrom('history')
          .select((inner) => inner.fn.max('id').as('id'))
          .where('groupId', 'in', ids)
          .groupBy('groupId'),
      )
      .where('revision', 'is', null)
      .where('action', '!=', 'stage')
      .execute(),
  )
  return new Map(rows.map(({ groupId, at, result }) => [groupId, { at, result }]))
}

/** Returns the entry that created this revision. */
export async function findRevision(
  queries: Queries,
  groupId: number,
  revision: number,
): Promise<HistoryEntry | undefined> {
  const made = selectRevisions(queries, groupId).where('revision', '=', revision).limit(1)
  const row = await made.executeTakeFirst()
  return row && fromRow(row)
}

/** A rollback usually finds its revision in the first page. */
const revisionsPerPage = 20

/** Returns the newest matching entry that created a revision; searches page by page. */
export async function findNewestRevision(
  queries: Queries,
  groupId: number,
  isWanted: (entry: HistoryEntry) => boolean,
): Promise<HistoryEntry | undefined> {
  for (let offset = 0; ; offset += revisionsPerPage) {
    const page = selectRevisions(queries, groupId).limit(revisionsPerPage).offset(offset)
    const entries = (await page.execute()).map(fromRow)
    const found = entries.find(isWanted)
    if (found || entries.length < revisionsPerPage) return found
  }
}

/** Entries that created a revision, newest first. */
function selectRevisions(queries: Queries, groupId: number) {
  return queries
    .selectFrom('history')
    .selectAll()
    .where('groupId', '=', groupId)
    .where('revision', 'is not', null)
    .where('action', 'not in', withoutRevision)
    .orderBy('revision', 'desc')
    .orderBy('id', 'desc')
}

/**
 * For a select of groups: the sources of the newest revision, as stored in the column; null if no cache ever switched to it
 * or none has it any more.
 */
export function switchedSources(): RawBuilder<string | null> {
  const group = sql.ref('vclGroups.id')
  return sql<string | null>`(select ${sql.ref('history.sources')} from ${sql.table('history')}
    where ${sql.ref('history.groupId')} = ${group}
      and ${sql.ref('history.revision')} = ${sql.ref('vclGroups.revision')}
      and ${sql.ref('history.action')} not in (${sql.join(withoutRevision)})
      and exists (select 1 from ${sql.table('placements')} where ${sql.ref('placements.groupId')} = ${group}
        and ${sql.ref('placements.currentName')} is not null)
    limit 1)`
}

function fromRow(row: Selectable<Tables['history']>): HistoryEntry {
  return {
    groupId: row.groupId,
    organizationId: row.organizationId,
    revision: row.revision,
    at: row.at,
    account: row.account,
    action: row.action as GroupAction, // written by addHistory only
    result: row.result,
    sources: parseSources(row.sources),
    // Written by addHistory only.
    ...(row.replaced !== null && { replaced: JSON.parse(row.replaced) as NamedReference[] }),
    ...(row.replacedBy !== null && { replacedBy: JSON.parse(row.replacedBy) as NamedReference }),
  }
}
