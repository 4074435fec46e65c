/** Queries for the delivery of the log: its entries, and the cursor of each agent. */
import { sql } from 'kysely'
import type { InvalidationContent } from './invalidation.js'
import { gatherReads } from '../store/gathered-reads.js'
import { listIds, prepareGiven } from '../store/given-rows.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'

/** An entry to be delivered. */
export interface LogEntry {
  readonly id: number
  readonly position: number
  readonly content: InvalidationContent
  /** Approximate size of the content as JSON. */
  readonly bytes: number
  readonly attemptSetId: number
  readonly createdAt: number
  readonly traceId: string
}

const delivered = [
  'invalidations.id',
  'invalidations.position',
  'invalidations.content',
  'invalidations.attemptSetId',
  'invalidations.createdAt',
  'invalidations.traceId',
] as const

const selectAfter = prepareQuery((queries) =>
  queries
    .selectFrom('invalidations')
    .select(delivered)
    .where('position', '>', 0)
    .where('outcome', 'is', null)
    .orderBy('position')
    .limit(1),
)

/** Open entries in order, whatever their agents. */
export async function readLogAfter(
  queries: Queries,
  position: number,
  limit: number,
): Promise<LogEntry[]> {
  return (await selectAfter(queries, [position, limit])).map(toEntry)
}

const selectOfAgent = prepareQuery((queries) =>
  queries
    .selectFrom('invalidations')
    .innerJoin('invalidationMembers', (join) =>
      join
        .onRef('invalidationMembers.setId', '=', 'invalidations.attemptSetId')
        .on('invalidationMembers.agentId', '=', 0),
    )
    .select(delivered)
    .where('invalidations.position', '>', 0)
    .where('invalidations.outcome', 'is', null)
    .orderBy('invalidations.position')
    .limit(1),
)

/** Open entries of one agent. */
export async function readLogOfAgent(
  queries: Queries,
  agentId: number,
  after: number,
  limit: number,
): Promise<LogEntry[]> {
  return (await selectOfAgent(queries, [agentId, after, limit])).map(toEntry)
}

/** True if the log has an entry that this agent has not completed. */
export async function hasMissedEntries(queries: Queries, agentId: number): Promise<boolean> {
  const cursor = await readCursor(queries, agentId)
  const missed = await readLogOfAgent(queries, agentId, cursor?.position ?? 0, 1)
  return missed.length > 0
}

const selectEnd = prepareQuery((queries) =>
  queries.selectFrom('invalidationLog').select('position'),
)

/** Returns the newest position. */
export async function readLogEnd(queries: Queries): Promise<number> {
  const [row] = await selectEnd(queries, [])
  if (!row) throw new Error('the invalidation log has no end')
  return row.position
}

interface CursorRow {
  readonly agentId: number
  readonly position: number
  readonly movedAt: number
  readonly trouble: string | null
}

const readCursors = gatherReads(
  (queries) =>
    queries.selectFrom('invalidationCursors').selectAll().where('agentId', 'in', listIds([])),
  ({ agentId }) => agentId,
)

/** Returns the agent's cursor, undefined if it never received an entry. */
export async function readCursor(
  queries: Queries,
  agentId: number,
): Promise<CursorRow | undefined> {
  return (await readCursors(queries, agentId))[0]
}

export interface Progress {
  readonly agentId: number
  /** Completed up to here; 0 if there is nothing new. */
  readonly position: number
  readonly trouble: string | null
}

/** Cursors never move backwards. Deleted agents are ignored. */
export async function moveCursors(
  queries: Queries,
  progress: readonly Progress[],
  now: number,
): Promise<void> {
  await writeCursors(
    queries,
    progress.map((one) => ({ ...one, at: now })),
  )
}

const writeCursors = prepareGiven(
  { agentId: 'bigint', position: 'bigint', at: 'bigint', trouble: 'text' },
  (given) => sql`
    insert into "invalidationCursors" ("agentId", position, "movedAt", trouble)
    select ${given.agentId}, ${given.position}, ${given.at}, ${given.trouble} ${given.from}
    where exists (select 1 from agents where agents.id = ${given.agentId})
    on conflict ("agentId") do update set
      "movedAt" = case when excluded.position > "invalidationCursors".position
        then excluded."movedAt" else "invalidationCursors"."movedAt" end,
      position = case when excluded.position > "invalidationCursors".position
        then excluded.position else "invalidationCursors".position end,
      trouble = excluded.trouble`,
)

export interface EndedEntry {
  readonly id: number
  readonly createdAt: number
  /** An agent reported a failure. */
  readonly hasFailed: boolean
}

/**
 * Ends the entries that all agents of these sets have completed and returns them. An agent has completed an entry when its cursor
 * has passed it. With null all sets are checked, including those without agents.
 */
export async function endWhatIsDone(
  queries: Queries,
  setIds: readonly number[] | null,
  now: number,
): Promise<EndedEntry[]> {
  if (setIds?.length === 0) return []
  const [setId] = setIds ?? []
  const rows =
    setId !== undefined && setIds?.length === 1
      ? await endOfSet(queries, [Number.MAX_SAFE_INTEGER, setId, now, now])
      : (await composeEnd(setIds, now).execute(queries)).rows
  return rows.map(({ failed, ...row }) => ({ ...row, hasFailed: failed === 1 }))
}

/** Reports mostly concern one set. */
const endOfSet = prepareQuery((queries) => ({ compile: () => composeEnd([0], 0).compile(queries) }))

function composeEnd(setIds: readonly number[] | null, now: number) {
  const open = setIds
    ? sql`(select id as "setId" from "invalidationSets" where id in (${sql.join(setIds)}))`
    : sql`(select distinct "attemptSetId" as "setId" from invalidations where outcome is null)`
  return sql<{ id: number; createdAt: number; failed: 0 | 1 }>`
    with reached("setId", position) as (
      select open."setId", coalesce(
        min(coalesce(cursor.position, case when member."agentId" is null then null else 0 end)), ${Number.MAX_SAFE_INTEGER})
      from ${open} open
      left join "invalidationMembers" member on member."setId" = open."setId"
      left join "invalidationCursors" cursor on cursor."agentId" = member."agentId"
      group by open."setId")
    update invalidations set outcome = case when failed = 1 then 3 else 2 end,
      "finishedAt" = ${now}, "updatedAt" = ${now}
    from reached
    where invalidations."attemptSetId" = reached."setId" and invalidations.outcome is null
      and invalidations.position <= reached.position
    returning invalidations.id, invalidations."createdAt", invalidations.failed`
}

/** Secrets of groups, from which `purgeSecret` is derived for purges. */
export async function readCacheKeys(
  queries: Queries,
  groupIds: readonly number[],
): Promise<Map<number, string>> {
  if (groupIds.length === 0) return new Map()
  const rows = await queries
    .selectFrom('vclGroups')
    .select(['id', 'cacheKey'])
    .where('id', 'in', [...groupIds])
    .execute()
  return new Map(rows.map(({ id, cacheKey }) => [id, cacheKey]))
}

function toEntry({
  content,
  ...row
}: Omit<LogEntry, 'content' | 'bytes'> & { content: string }): LogEntry {
  // Written by appendInvalidation.
  return { ...row, content: JSON.parse(content) as InvalidationContent, bytes: content.length }
}
