/** What happened to a group: one entry for each deploy, also a failed one (choices: 3, `/history`). */
import type { WishedSources } from '../domain/vcl-group.js'
import type { Queries } from './store.js'

/** Chosen by us: entries kept of each group; older ones are forgotten. */
const entriesKept = 1000

export type GroupAction = 'deploy' | 'undeploy'

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
  readonly sources: WishedSources
}

export async function addHistory(queries: Queries, entry: HistoryEntry): Promise<void> {
  const { id } = await queries
    .insertInto('history')
    .values({ ...entry, sources: JSON.stringify(entry.sources), sha: entry.sources.sha })
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

/** Newest first. */
export async function readHistory(queries: Queries, groupId: number): Promise<HistoryEntry[]> {
  const rows = await queries
    .selectFrom('history')
    .selectAll()
    .where('groupId', '=', groupId)
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) => ({
    groupId: row.groupId,
    organizationId: row.organizationId,
    revision: row.revision,
    at: row.at,
    account: row.account,
    action: row.action as GroupAction, // written by addHistory only
    result: row.result,
    sources: JSON.parse(row.sources) as WishedSources, // written by addHistory only
  }))
}
