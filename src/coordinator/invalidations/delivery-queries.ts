/** What the log has for agents, and how far each of them is. */
import { sql } from 'kysely'
import type { InvalidationContent } from './invalidation.js'
import { prepareGiven } from '../store/given-rows.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'

/** An entry as it is delivered. */
export interface LogEntry {
  readonly id: number
  readonly position: number
  readonly content: InvalidationContent
  /** Of the content as JSON, about. */
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

/** For whomever they are, in their order; those that ended are left out. */
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

/** Those for one agent. */
export async function readLogOfAgent(
  queries: Queries,
  agentId: number,
  after: number,
  limit: number,
): Promise<LogEntry[]> {
  return (await selectOfAgent(queries, [agentId, after, limit])).map(toEntry)
}

/** Whether the log has something that this agent has not done. */
export async function hasMissedEntries(queries: Queries, agentId: number): Promise<boolean> {
  const cursor = await readCursor(queries, agentId)
  const missed = await readLogOfAgent(queries, agentId, cursor?.position ?? 0, 1)
  return missed.length > 0
}

const selectEnd = prepareQuery((queries) =>
  queries.selectFrom('invalidationLog').select('position'),
)

/** The newest position. */
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

const selectCursor = prepareQuery((queries) =>
  queries.selectFrom('invalidationCursors').selectAll().where('agentId', '=', 0),
)

/** How far the agent is; undefined: it was never told of an entry. */
export async function readCursor(
  queries: Queries,
  agentId: number,
): Promise<CursorRow | undefined> {
  return (await selectCursor(queries, [agentId]))[0]
}

export interface Progress {
  readonly agentId: number
  /** Done up to here; 0: nothing new. */
  readonly position: number
  readonly trouble: string | null
}

/** Cursors never go back. Agents that are gone are left out. */
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
  /** An agent said that it could not. */
  readonly hasFailed: boolean
}

/**
 * Ends what all agents of these sets have done; answers these. An agent is done with an entry when its cursor passed it. For
 * null it looks at all sets, also at those that have no agents any more.
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

/** What agents report is mostly of one set. */
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

/** Of groups, for purges: `purgeSecret` is made of it. */
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
  // As appendInvalidation wrote it.
  return { ...row, content: JSON.parse(content) as InvalidationContent, bytes: content.length }
}
