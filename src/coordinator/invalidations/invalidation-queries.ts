/** The entries of the invalidation log: append, list, end. The queries for delivery are in `delivery-queries.ts`. */
import { sql, type Selectable } from 'kysely'
import { invalidation } from '../../resources/invalidation.js'
import type { Exception, InvalidationContent, InvalidationOutcome } from './invalidation.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import { selectOwned, type OwnedRow } from '../store/owned-rows.js'
import { prepareInsert, updateRow } from '../store/write-rows.js'
import type { NamedReference } from '../store/owner.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

/** Target as named by the caller, with the names at that time. */
export interface TargetRecord {
  readonly vclGroup?: NamedReference
  readonly domains?: readonly { readonly id: number; readonly fqdn: string }[]
  readonly tags?: readonly NamedReference[]
  readonly agents?: readonly NamedReference[]
  readonly all?: true
}

type Row = Readonly<Selectable<Tables['invalidations']>>

export type InvalidationRecord = StoredRecord<typeof invalidation.fields> &
  Pick<Row, 'position' | 'traceId' | 'setId' | 'attemptSetId'> & {
    readonly content: InvalidationContent
    readonly target: TargetRecord
    readonly warnings: readonly string[]
    readonly outcome: InvalidationOutcome | null
    readonly exceptions: readonly Exception[]
  }

type NewInvalidation = Pick<
  InvalidationRecord,
  | 'content'
  | 'target'
  | 'warnings'
  | 'account'
  | 'traceId'
  | 'ttlSeconds'
  | 'createdAt'
  | 'setId'
  | 'attemptSetId'
  | 'outcome'
> & { readonly organizationId: number | null }

export const invalidationColumns = listColumns(invalidation.fields, 'invalidations')

export function selectInvalidations(queries: Queries, scope: Scope) {
  return selectOwned(queries, 'invalidations', within(scope, 'invalidations'))
}

/** Fields that determine the state, without long ones. */
export const progressColumns = [
  'invalidations.id',
  'invalidations.position',
  'invalidations.createdAt',
  'invalidations.updatedAt',
  'invalidations.expiresAt',
  'invalidations.finishedAt',
  'invalidations.outcome',
  'invalidations.exceptions',
  'invalidations.setId',
  'invalidations.attemptSetId',
] as const

export type ProgressRow = Pick<
  Row,
  | 'id'
  | 'position'
  | 'createdAt'
  | 'updatedAt'
  | 'expiresAt'
  | 'finishedAt'
  | 'outcome'
  | 'exceptions'
  | 'setId'
  | 'attemptSetId'
>

export function toProgress(row: ProgressRow) {
  const exceptions = JSON.parse(row.exceptions) as Exception[] // written below
  return { ...row, exceptions, outcome: row.outcome as InvalidationOutcome | null }
}

const anyId = 0
const findAnywhere = prepareQuery((queries) =>
  selectInvalidations(queries, { kind: 'all' }).where('invalidations.id', '=', anyId),
)
const findVisible = prepareQuery((queries) =>
  selectInvalidations(queries, { kind: 'organization', organizationId: anyId }).where(
    'invalidations.id',
    '=',
    anyId,
  ),
)

export async function findInvalidation(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<InvalidationRecord | undefined> {
  const [row] =
    scope.kind === 'all'
      ? await findAnywhere(queries, [id])
      : await findVisible(queries, [scope.organizationId, id])
  return row && toInvalidation(row)
}

/** Returns the open ones of these positions. */
export async function readOpenAt(
  queries: Queries,
  positions: readonly number[],
): Promise<InvalidationRecord[]> {
  const rows = await inPieces(positions, (piece) =>
    selectInvalidations(queries, { kind: 'all' })
      .where('invalidations.position', 'in', piece)
      .where('invalidations.outcome', 'is', null)
      .execute(),
  )
  return rows.map(toInvalidation)
}

export async function readExpired(
  queries: Queries,
  now: number,
  limit: number,
): Promise<InvalidationRecord[]> {
  const rows = await selectInvalidations(queries, { kind: 'all' })
    .where('invalidations.outcome', 'is', null)
    .where('invalidations.expiresAt', '<=', now)
    .orderBy('invalidations.expiresAt')
    .limit(limit)
    .execute()
  return rows.map(toInvalidation)
}

const advanceLog = prepareQuery((queries) =>
  queries
    .updateTable('invalidationLog')
    .set({ position: sql`position + 1` })
    .returning('position'),
)

/** Locks the end of the log until the commit, so that a reader of a position has read every earlier one. */
async function takePosition(queries: Queries): Promise<number> {
  const [row] = await advanceLog(queries, [])
  if (!row) throw new Error('the invalidation log has no end')
  return row.position
}

const insertEntry = prepareInsert('invalidations', [
  ...(['organizationId', 'position', 'type', 'content', 'target', 'warnings', 'account'] as const),
  ...(['traceId', 'ttlSeconds', 'createdAt', 'updatedAt', 'expiresAt', 'setId'] as const),
  ...(['attemptSetId', 'outcome', 'finishedAt', 'failed', 'exceptions'] as const),
])

/** Returns the id. Call last in a transaction, because other appends wait for its commit. */
export async function appendInvalidation(
  queries: Queries,
  entry: NewInvalidation,
): Promise<number> {
  const { content, createdAt: now, ttlSeconds, outcome } = entry
  return insertEntry(queries, {
    ...entry,
    updatedAt: now,
    expiresAt: now + ttlSeconds * 1000,
    finishedAt: outcome === null ? null : now,
    type: content.type,
    content: JSON.stringify(content),
    target: JSON.stringify(entry.target),
    warnings: JSON.stringify(entry.warnings),
    failed: 0,
    exceptions: '[]',
    position: await takePosition(queries),
  })
}

/** Moves the entry to the end of the log, for its agents that have not completed it. */
export async function appendAgain(
  queries: Queries,
  { id, ttlSeconds }: Pick<InvalidationRecord, 'id' | 'ttlSeconds'>,
  attempt: { readonly attemptSetId: number; readonly exceptions: readonly Exception[] },
  now: number,
): Promise<void> {
  await updateRow(queries, 'invalidations', id, {
    attemptSetId: attempt.attemptSetId,
    exceptions: JSON.stringify(attempt.exceptions),
    failed: false,
    outcome: null,
    finishedAt: null,
    updatedAt: now,
    expiresAt: now + ttlSeconds * 1000,
    position: await takePosition(queries),
  })
}

export async function writeExceptions(
  queries: Queries,
  id: number,
  exceptions: readonly Exception[],
): Promise<void> {
  const failed = exceptions.some(({ state }) => state !== 'done')
  const written = { exceptions: JSON.stringify(exceptions), failed }
  await updateRow(queries, 'invalidations', id, written)
}

export async function endInvalidation(
  queries: Queries,
  id: number,
  outcome: InvalidationOutcome,
  now: number,
): Promise<void> {
  await updateRow(queries, 'invalidations', id, { outcome, finishedAt: now, updatedAt: now })
}

/** True if at least this many entries are open. Counts only if oldest and newest are that far apart, since each new entry asks. */
export async function hasOpen(queries: Queries, atLeast: number): Promise<boolean> {
  const [first, last] = [await findOpen(queries, 'asc'), await findOpen(queries, 'desc')]
  if (first === undefined || last === undefined || last - first + 1 < atLeast) return false
  return (await findOpen(queries, 'asc', atLeast - 1)) !== undefined
}

const openPositions = {
  asc: prepareQuery((queries) => selectOpenPosition(queries, 'asc')),
  desc: prepareQuery((queries) => selectOpenPosition(queries, 'desc')),
}

function selectOpenPosition(queries: Queries, order: 'asc' | 'desc') {
  return queries
    .selectFrom('invalidations')
    .select('position')
    .where('outcome', 'is', null)
    .orderBy('position', order)
    .limit(1)
    .offset(0)
}

/** Returns the position of the open entry at this offset in the given order. */
async function findOpen(
  queries: Queries,
  order: 'asc' | 'desc',
  offset = 0,
): Promise<number | undefined> {
  const [row] = await openPositions[order](queries, [1, offset])
  return row?.position
}

const countOpen = prepareQuery((queries) =>
  queries
    .selectFrom('invalidations')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('organizationId', '=', anyId)
    .where('outcome', 'is', null),
)

export async function countOpenOf(queries: Queries, organizationId: number): Promise<number> {
  const [row] = await countOpen(queries, [organizationId])
  return row?.count ?? 0
}

/** Deletes at most `limit` ended entries and returns their number. */
export async function deleteEndedBefore(
  queries: Queries,
  finishedAt: number,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('invalidations')
    .where('id', 'in', (e) =>
      e
        .selectFrom('invalidations')
        .select('id')
        .where('finishedAt', '<', finishedAt)
        .orderBy('finishedAt')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Returns when the entry with `kept` newer ended ones ended; null if there are fewer. */
export async function findEndedBehind(queries: Queries, kept: number): Promise<number | null> {
  const row = await queries
    .selectFrom('invalidations')
    .select('finishedAt')
    .where('finishedAt', 'is not', null)
    .orderBy('finishedAt', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst()
  return row?.finishedAt ?? null
}

const readStored = rowReader(invalidation.fields)

export function toInvalidation(row: OwnedRow<'invalidations'>): InvalidationRecord {
  // JSON and states were written above.
  return {
    ...readStored(row),
    position: row.position,
    content: JSON.parse(row.content) as InvalidationContent,
    target: JSON.parse(row.target) as TargetRecord,
    warnings: JSON.parse(row.warnings) as string[],
    traceId: row.traceId,
    setId: row.setId,
    attemptSetId: row.attemptSetId,
    outcome: row.outcome as InvalidationOutcome | null,
    exceptions: JSON.parse(row.exceptions) as Exception[],
  }
}
