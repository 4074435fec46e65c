/** Delivery rows: one queue per webhook, in the order of the events, and a log of outcomes. */
import { webhookLimits, type DeliveryState } from '../../resources/webhook.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'
import type { Message } from './compose-body.js'

export interface NewDelivery extends Omit<Message, 'id'> {
  readonly webhookId: number
}

/** How an attempt ended. */
export interface Attempt {
  readonly isDelivered: boolean
  /** Null if there was no response. */
  readonly status: number | null
  /** Start of the response. */
  readonly answer: string | null
  /** Null if it was delivered. */
  readonly error: string | null
}

export async function insertDeliveries(
  queries: Queries,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  await inPieces(
    deliveries.map((one) => ({ ...one, state: 'waiting' as const, attempts: 0 })),
    (piece) => queries.insertInto('webhookDeliveries').values(piece).execute(),
  )
}

/** Drops the oldest above the limit and returns their number. */
export async function dropExcess(
  queries: Queries,
  webhookId: number,
  now: number,
  most: number = webhookLimits.waiting,
): Promise<number> {
  const newestTooOld = await queries
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('webhookId', '=', webhookId)
    .where('state', '=', 'waiting')
    .orderBy('id', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst()
  return newestTooOld ? dropUntil(queries, webhookId, { id: newestTooOld.id, now }) : 0
}

/** Drops all queued deliveries and returns their number. */
export async function dropWaiting(queries: Queries, webhookId: number, now: number) {
  return dropUntil(queries, webhookId, { id: Number.MAX_SAFE_INTEGER, now })
}

/** Counts the dropped deliveries in the webhook's row; its log keeps only the newest. */
async function dropUntil(
  queries: Queries,
  webhookId: number,
  { id, now }: { readonly id: number; readonly now: number },
): Promise<number> {
  const { numUpdatedRows } = await queries
    .updateTable('webhookDeliveries')
    .set({ state: 'dropped', data: null, endedAt: now })
    .where('webhookId', '=', webhookId)
    .where('state', '=', 'waiting')
    .where('id', '<=', id)
    .executeTakeFirst()
  const count = Number(numUpdatedRows)
  if (count === 0) return 0
  await queries
    .updateTable('webhooks')
    .set((e) => ({ dropped: e('dropped', '+', count) }))
    .where('id', '=', webhookId)
    .execute()
  await deleteOldEnded(queries, webhookId)
  return count
}

export interface WaitingDelivery extends Message {
  readonly attempts: number
}

/** The oldest first. */
export async function readWaiting(
  queries: Queries,
  webhookId: number,
  limit: number,
): Promise<WaitingDelivery[]> {
  const rows = await queries
    .selectFrom('webhookDeliveries')
    .select(['id', 'type', 'at', 'data', 'attempts'])
    .where('webhookId', '=', webhookId)
    .where('state', '=', 'waiting')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ data, ...row }) => ({ ...row, data: data ?? 'null' })) // set while a delivery waits
}

/** Keyed by webhook, without empty queues. */
export async function countWaiting(
  queries: Queries,
  webhookIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await inPieces(webhookIds, (piece) =>
    queries
      .selectFrom('webhookDeliveries')
      .select(['webhookId', (e) => e.fn.countAll<number>().as('count')])
      .where('webhookId', 'in', piece)
      .where('state', '=', 'waiting')
      .groupBy('webhookId')
      .execute(),
  )
  return new Map(rows.map(({ webhookId, count }) => [webhookId, count]))
}

/** For enabled webhooks; others have no queue. */
export async function countAllWaiting(queries: Queries): Promise<number> {
  const rows = await queries.selectFrom('webhooks').select('id').where('enabled', '=', 1).execute()
  const waiting = await countWaiting(
    queries,
    rows.map(({ id }) => id),
  )
  return [...waiting.values()].reduce((sum, count) => sum + count, 0)
}

/** Returns which of these webhooks have queued deliveries, with one index lookup each. */
export async function listWaiting(
  queries: Queries,
  webhookIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await inPieces(webhookIds, (piece) =>
    queries
      .selectFrom('webhooks')
      .select('id')
      .where('id', 'in', piece)
      .where((e) =>
        e.exists(
          e
            .selectFrom('webhookDeliveries')
            .select('webhookDeliveries.id')
            .whereRef('webhookDeliveries.webhookId', '=', 'webhooks.id')
            .where('state', '=', 'waiting'),
        ),
      )
      .execute(),
  )
  return new Set(rows.map(({ id }) => id))
}

/** `state` is the new state. */
export async function writeAttempt(
  queries: Queries,
  id: number,
  { status, answer, error }: Attempt,
  { state, now }: { readonly state: DeliveryState; readonly now: number },
): Promise<void> {
  const isOver = state !== 'waiting'
  await queries
    .updateTable('webhookDeliveries')
    .set((e) => ({
      state,
      status,
      answer,
      error,
      attempts: e('attempts', '+', 1),
      ...(isOver && { data: null, endedAt: now }),
    }))
    .where('id', '=', id)
    // It may have been dropped in the meantime.
    .where('state', '=', 'waiting')
    .execute()
}

/** Inserts an entry into the log only, `failed` until the attempt ends. Returns its id. */
export async function insertUnqueued(queries: Queries, delivery: NewDelivery): Promise<number> {
  const { id } = await queries
    .insertInto('webhookDeliveries')
    .values({ ...delivery, state: 'failed', attempts: 0, data: null })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function writeUnqueued(
  queries: Queries,
  { webhookId, id }: { readonly webhookId: number; readonly id: number },
  { isDelivered, status, answer, error }: Attempt,
  now: number,
): Promise<void> {
  const state = isDelivered ? 'delivered' : 'failed'
  await queries
    .updateTable('webhookDeliveries')
    .set({ state, attempts: 1, status, answer, error, endedAt: now })
    .where('id', '=', id)
    .execute()
  await deleteOldEnded(queries, webhookId)
}

/** Limits the size of the log. */
export async function deleteOldEnded(queries: Queries, webhookId: number): Promise<void> {
  const oldest = await queries
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('webhookId', '=', webhookId)
    .where('state', '!=', 'waiting')
    .orderBy('id', 'desc')
    .offset(webhookLimits.deliveries)
    .limit(1)
    .executeTakeFirst()
  if (!oldest) return
  await queries
    .deleteFrom('webhookDeliveries')
    .where('webhookId', '=', webhookId)
    .where('state', '!=', 'waiting')
    .where('id', '<=', oldest.id)
    .execute()
}

/** Undefined if the webhook was deleted. */
export async function findDelivery(queries: Queries, id: number): Promise<DeliveryRow | undefined> {
  return selectDeliveries(queries).where('id', '=', id).executeTakeFirst()
}

/** The newest first. */
export async function readDeliveries(queries: Queries, webhookId: number) {
  return selectDeliveries(queries)
    .where('webhookId', '=', webhookId)
    .orderBy('id', 'desc')
    .limit(webhookLimits.deliveries)
    .execute()
}

export type DeliveryRow = Awaited<ReturnType<typeof readDeliveries>>[number]

/** Without the body. */
function selectDeliveries(queries: Queries) {
  return queries
    .selectFrom('webhookDeliveries')
    .select(['id', 'type', 'at', 'state', 'attempts', 'status', 'answer', 'error', 'endedAt'])
}
