/** Event rows: numbered under one lock, read once for all subscribers, kept for a limited time. */
import { sql, type Insertable, type Selectable } from 'kysely'
import type { EventType, FleetEvent, EventFilter } from '../../resources/event.js'
import type { Tables } from '../store/schema.js'
import { visibleEvents } from '../store/scope.js'
import { prepareGiven } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

export type NewEvent = Readonly<Omit<Insertable<Tables['events']>, 'id' | 'type'>> & {
  readonly type: EventType
}

const counterId = 1

/**
 * Returns the id of the newest event. Until this transaction ends no other one numbers events, so ids are in commit order and
 * readers that continue from an id miss none.
 */
export async function lockEventCounter(queries: Queries): Promise<number> {
  const { last } = await queries
    .updateTable('eventCounter')
    .set((e) => ({ last: e.ref('last') }))
    .where('id', '=', counterId)
    .returning('last')
    .executeTakeFirstOrThrow()
  return last
}

/** Assigns ids after `last`. */
export async function insertEvents(
  queries: Queries,
  last: number,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return
  await insertAll(
    queries,
    events.map((event, index) => ({
      id: last + 1 + index,
      createdAt: event.createdAt,
      type: event.type,
      organizationId: event.organizationId ?? null,
      about: event.about ?? null,
      data: event.data,
      sharedData: event.sharedData ?? null,
    })),
  )
  await queries
    .updateTable('eventCounter')
    .set({ last: last + events.length })
    .where('id', '=', counterId)
    .execute()
}

const insertAll = prepareGiven(
  {
    id: 'bigint',
    createdAt: 'bigint',
    type: 'text',
    organizationId: 'bigint',
    about: 'text',
    data: 'text',
    sharedData: 'text',
  },
  (given) => sql`
    insert into events (id, "createdAt", type, "organizationId", about, data, "sharedData")
      select ${given.id}, ${given.createdAt}, ${given.type}, ${given.organizationId},
        ${given.about}, ${given.data}, ${given.sharedData} ${given.from}`,
)

/** Returns all events after this one, for any reader, oldest first. */
export async function readEvents(
  queries: Queries,
  after: number,
  limit: number,
): Promise<FleetEvent[]> {
  return (await selectEvents(queries, after, limit).execute()).map(fromRow)
}

/** Includes the creation times. */
export async function readTimedEvents(
  queries: Queries,
  after: number,
  limit: number,
): Promise<(FleetEvent & { readonly createdAt: number })[]> {
  const rows = await selectEvents(queries, after, limit).execute()
  return rows.map((row) => ({ ...fromRow(row), createdAt: row.createdAt }))
}

/** Returns the events up to `until` that this subscriber may read. */
export async function readEventsFor(
  queries: Queries,
  filter: EventFilter,
  {
    after,
    until,
    limit,
  }: { readonly after: number; readonly until: number; readonly limit: number },
): Promise<FleetEvent[]> {
  if (filter.types.length === 0) return []
  const { organizationId } = filter
  const scope =
    organizationId === null
      ? ({ kind: 'all' } as const)
      : ({ kind: 'organization', organizationId } as const)
  const rows = await selectEvents(queries, after, limit)
    .where('id', '<=', until)
    .where('type', 'in', [...filter.types])
    .where(visibleEvents(scope))
    .execute()
  return rows.map(fromRow)
}

interface EventBounds {
  /** The newest id; 0 before the first. */
  readonly newest: number
  /** The oldest kept id, null if there is none. */
  readonly oldest: number | null
}

export async function readEventBounds(queries: Queries): Promise<EventBounds> {
  const { last, oldest } = await queries
    .selectFrom('eventCounter')
    .select('last')
    .select((e) =>
      e
        .selectFrom('events')
        .select((inner) => inner.fn.min('events.id').as('id'))
        .as('oldest'),
    )
    .executeTakeFirstOrThrow()
  return { newest: last, oldest }
}

/** The data of the last event of each of these. */
export async function readLastAbout(
  queries: Queries,
  abouts: readonly string[],
): Promise<Map<string, string>> {
  const rows = await inPieces(abouts, (piece) =>
    queries
      .selectFrom('events')
      .select(['about', 'data'])
      .where('id', 'in', (e) =>
        e
          .selectFrom('events')
          .select((inner) => inner.fn.max('id').as('id'))
          .where('about', 'in', piece)
          .groupBy('about'),
      )
      .execute(),
  )
  return new Map(rows.map(({ about, data }) => [about ?? '', data]))
}

/**
 * Deletes, of the oldest `limit`, the events created before `createdAt` or not among the newest `kept`; returns their number.
 * Deletes only from the old end, so that the remaining ids have no gaps.
 */
export async function deleteOldEvents(
  queries: Queries,
  { createdBefore, kept, limit }: { createdBefore: number; kept: number; limit: number },
): Promise<number> {
  const { newest } = await readEventBounds(queries)
  const rows = await queries
    .selectFrom('events')
    .select(['id', 'createdAt'])
    .orderBy('id')
    .limit(limit)
    .execute()
  const isOld = (row: { id: number; createdAt: number }): boolean =>
    row.createdAt < createdBefore || row.id <= newest - kept
  const young = rows.findIndex((row) => !isOld(row))
  const last = rows.at(young < 0 ? -1 : young - 1)
  if (!last || young === 0) return 0
  await queries.deleteFrom('events').where('id', '<=', last.id).execute()
  return young < 0 ? rows.length : young
}

function selectEvents(queries: Queries, after: number, limit: number) {
  return queries.selectFrom('events').selectAll().where('id', '>', after).orderBy('id').limit(limit)
}

function fromRow(row: Selectable<Tables['events']>): FleetEvent {
  return {
    id: row.id,
    type: row.type as EventType, // written by insertEvents only
    organizationId: row.organizationId,
    data: row.data,
    sharedData: row.sharedData,
  }
}
