/** The entries of the invalidation log: appended, listed, ended. Who delivers reads `invalidation-delivery.ts`. */
import { sql, type Selectable } from 'kysely'
import type { ListFields } from '../../resources/list-query.js'
import type { Exception, InvalidationContent, InvalidationOutcome } from './invalidation.js'
import type { ListColumns } from '../store/list-query.js'
import { toOwner, type NamedReference } from '../store/owner.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

/** What the caller named; names are those of that time. */
export interface TargetRecord {
  readonly vclGroup?: NamedReference
  readonly domains?: readonly { readonly id: number; readonly fqdn: string }[]
  readonly tags?: readonly NamedReference[]
  readonly agents?: readonly NamedReference[]
  readonly all?: true
}

type Row = Readonly<Selectable<Tables['invalidations']>>

export interface InvalidationRecord extends Omit<
  Row,
  | 'organizationId'
  | 'type'
  | 'content'
  | 'target'
  | 'warnings'
  | 'outcome'
  | 'failed'
  | 'exceptions'
> {
  /** Null: the system administrator's. */
  readonly organization: NamedReference | null
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

/** What the list is filtered and sorted by, beside what follows from other rows. */
export const invalidationColumns = {
  id: { column: 'invalidations.id', type: 'number' },
  'organization.id': { column: 'organizations.id', type: 'number', nullable: true },
  'organization.name': { column: 'organizations.name', type: 'text', nullable: true },
  type: { column: 'invalidations.type', type: 'text' },
  account: { column: 'invalidations.account', type: 'text' },
  ttl: { column: 'invalidations.ttlSeconds', type: 'number' },
  created: { column: 'invalidations.createdAt', type: 'time' },
  updated: { column: 'invalidations.updatedAt', type: 'time' },
  expires: { column: 'invalidations.expiresAt', type: 'time' },
  finished: { column: 'invalidations.finishedAt', type: 'time', nullable: true },
} satisfies ListColumns & ListFields

export function selectInvalidations(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('invalidations')
    .leftJoin('organizations', 'organizations.id', 'invalidations.organizationId')
    .selectAll('invalidations')
    .select('organizations.name as organizationName')
    .where(within(scope, 'invalidations'))
}

/** What states are judged by: not what may be long. */
export const progressColumns = [
  'invalidations.id',
  'invalidations.position',
  'invalidations.createdAt',
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

export async function findInvalidation(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<InvalidationRecord | undefined> {
  const row = await selectInvalidations(queries, scope)
    .where('invalidations.id', '=', id)
    .executeTakeFirst()
  return row && toInvalidation(row)
}

/** Of these positions, those that go on. */
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

/** The end of the log, held until the commit: whoever reads up to a position has read all before it. */
async function takePosition(queries: Queries): Promise<number> {
  const { position } = await queries
    .updateTable('invalidationLog')
    .set({ position: sql`position + 1` })
    .returning('position')
    .executeTakeFirstOrThrow()
  return position
}

/** Answers its id. Call last in a transaction: others that append wait for its commit. */
export async function appendInvalidation(
  queries: Queries,
  entry: NewInvalidation,
): Promise<number> {
  const { content, target, warnings, ttlSeconds, createdAt, outcome, ...columns } = entry
  const { id } = await queries
    .insertInto('invalidations')
    .values({
      ...columns,
      ttlSeconds,
      createdAt,
      outcome,
      updatedAt: createdAt,
      expiresAt: createdAt + ttlSeconds * 1000,
      finishedAt: outcome === null ? null : createdAt,
      type: content.type,
      content: JSON.stringify(content),
      target: JSON.stringify(target),
      warnings: JSON.stringify(warnings),
      failed: 0,
      exceptions: '[]',
      position: await takePosition(queries),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** To the end of the log, for those agents of it that have not done it. */
export async function appendAgain(
  queries: Queries,
  { id, ttlSeconds }: Pick<InvalidationRecord, 'id' | 'ttlSeconds'>,
  attempt: { readonly attemptSetId: number; readonly exceptions: readonly Exception[] },
  now: number,
): Promise<void> {
  await queries
    .updateTable('invalidations')
    .set({
      attemptSetId: attempt.attemptSetId,
      exceptions: JSON.stringify(attempt.exceptions),
      failed: 0,
      outcome: null,
      finishedAt: null,
      updatedAt: now,
      expiresAt: now + ttlSeconds * 1000,
      position: await takePosition(queries),
    })
    .where('id', '=', id)
    .execute()
}

export async function writeExceptions(
  queries: Queries,
  id: number,
  exceptions: readonly Exception[],
): Promise<void> {
  const failed = exceptions.some(({ state }) => state !== 'done') ? 1 : 0
  await queries
    .updateTable('invalidations')
    .set({ exceptions: JSON.stringify(exceptions), failed })
    .where('id', '=', id)
    .execute()
}

export async function endInvalidation(
  queries: Queries,
  id: number,
  outcome: InvalidationOutcome,
  now: number,
): Promise<void> {
  await queries
    .updateTable('invalidations')
    .set({ outcome, finishedAt: now, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteInvalidation(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('invalidations').where('id', '=', id).execute()
}

/** Whether as many go on. Counted only where the oldest and the newest are as far apart, since each new entry asks. */
export async function hasOpen(queries: Queries, atLeast: number): Promise<boolean> {
  const [first, last] = [await findOpen(queries, 'asc'), await findOpen(queries, 'desc')]
  if (first === undefined || last === undefined || last - first + 1 < atLeast) return false
  return (await findOpen(queries, 'asc', atLeast - 1)) !== undefined
}

/** Position of the open entry so many behind the first of this order. */
async function findOpen(
  queries: Queries,
  order: 'asc' | 'desc',
  offset = 0,
): Promise<number | undefined> {
  const row = await queries
    .selectFrom('invalidations')
    .select('position')
    .where('outcome', 'is', null)
    .orderBy('position', order)
    .offset(offset)
    .limit(1)
    .executeTakeFirst()
  return row?.position
}

export async function countOpenOf(queries: Queries, organizationId: number): Promise<number> {
  const { count } = await queries
    .selectFrom('invalidations')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('organizationId', '=', organizationId)
    .where('outcome', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Deletes ended ones, at most `limit`, and answers how many. */
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

/** When the one ended that has `kept` newer ones behind it; null: there are not as many. */
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

type SelectedRow = Row & { readonly organizationName: string | null }

export function toInvalidation(row: SelectedRow): InvalidationRecord {
  // JSON and states are written above.
  return {
    id: row.id,
    organization: toOwner(row),
    position: row.position,
    content: JSON.parse(row.content) as InvalidationContent,
    target: JSON.parse(row.target) as TargetRecord,
    warnings: JSON.parse(row.warnings) as string[],
    account: row.account,
    traceId: row.traceId,
    ttlSeconds: row.ttlSeconds,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    expiresAt: row.expiresAt,
    setId: row.setId,
    attemptSetId: row.attemptSetId,
    outcome: row.outcome as InvalidationOutcome | null,
    finishedAt: row.finishedAt,
    exceptions: JSON.parse(row.exceptions) as Exception[],
  }
}
