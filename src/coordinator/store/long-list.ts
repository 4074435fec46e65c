/** Lists that may be very long: a page is read at once, a whole list in pieces, so as not to block the event loop for long. */
import type { SelectQueryBuilder } from 'kysely'
import type { ListQuery } from '../../resources/list-query.js'
import { readList, readListed, readListIds, type ListColumns } from './list-query.js'
import type { ListAnswer } from './computed-list.js'

/** Rows per piece; reading them blocks the event loop for a few milliseconds. */
const rowsAtOnce = 500

export interface LongListAnswer<Row> {
  /** Many rows are read while they are sent; rows deleted meanwhile are omitted. */
  readonly rows: readonly Row[] | AsyncIterable<Row>
  readonly total: number
}

/** `toRecords` receives some rows of the query at a time and keeps their order. */
export async function readLongList<
  DB,
  TB extends keyof DB,
  Row extends { readonly id: number },
  Found,
>(
  query: SelectQueryBuilder<DB, TB, Row>,
  list: ListQuery,
  columns: ListColumns,
  toRecords: (
    rows: Awaited<ReturnType<SelectQueryBuilder<DB, TB, Row>['execute']>>,
  ) => readonly Found[] | Promise<readonly Found[]>,
): Promise<LongListAnswer<Found>> {
  const take = list.take ?? { limit: rowsAtOnce, offset: 0 }
  const { rows, total } = await readList(query, { ...list, take }, columns)
  if (list.take !== null || total <= rowsAtOnce) return { rows: await toRecords(rows), total }
  const ids = await readListIds(query, list, columns)
  const read = async (piece: readonly number[]) =>
    toRecords(await readListed(query, piece, columns))
  return { rows: readPieces(ids, read), total: ids.length }
}

/** Reads few rows at once, many in pieces; `read` keeps their order. */
export async function readByIds<Found>(
  ids: readonly number[],
  read: (ids: readonly number[]) => Promise<readonly Found[]>,
): Promise<readonly Found[] | AsyncIterable<Found>> {
  if (ids.length === 0) return [] // PostgreSQL has no empty `in ()`
  return ids.length > rowsAtOnce ? readPieces(ids, read) : read(ids)
}

async function* readPieces<Found>(
  ids: readonly number[],
  read: (ids: readonly number[]) => Promise<readonly Found[]>,
): AsyncGenerator<Found> {
  for (let start = 0; start < ids.length; start += rowsAtOnce)
    yield* await read(ids.slice(start, start + rowsAtOnce))
}

/** Converts each row to its API form while it is sent. */
export function mapRows<Row, View>(
  { rows }: Pick<ListAnswer<Row> | LongListAnswer<Row>, 'rows'>,
  toView: (row: Row) => View,
): readonly View[] | AsyncIterable<View> {
  return Array.isArray(rows) ? rows.map(toView) : mapLater(rows, toView)
}

async function* mapLater<Row, View>(
  rows: AsyncIterable<Row> | readonly Row[],
  toView: (row: Row) => View,
): AsyncGenerator<View> {
  for await (const row of rows) yield toView(row)
}
