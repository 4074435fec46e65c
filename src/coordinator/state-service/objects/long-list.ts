/** Lists that may be very long: the ids are read at once, the rows in pieces as the caller takes them. */
import type { ListAnswer } from './computed-list.js'

/** Chosen by us: rows a piece; reading them holds the event loop for some milliseconds. */
const rowsAtOnce = 500

export interface LongListAnswer<Row> {
  /** Many: read while they are sent; what is deleted meanwhile is left out. */
  readonly rows: readonly Row[] | AsyncIterable<Row>
  readonly total: number
}

export async function readInPieces<Row extends { readonly id: number }>(
  ids: readonly number[],
  readRows: (ids: readonly number[]) => Promise<readonly Row[]>,
): Promise<LongListAnswer<Row>> {
  if (ids.length === 0) return { rows: [], total: 0 } // PostgreSQL has no empty `in ()`
  const rows =
    ids.length > rowsAtOnce ? readPieces(ids, readRows) : inOrder(ids, await readRows(ids))
  return { rows, total: ids.length }
}

async function* readPieces<Row extends { readonly id: number }>(
  ids: readonly number[],
  readRows: (ids: readonly number[]) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let start = 0; start < ids.length; start += rowsAtOnce) {
    const piece = ids.slice(start, start + rowsAtOnce)
    yield* inOrder(piece, await readRows(piece))
  }
}

function inOrder<Row extends { readonly id: number }>(
  ids: readonly number[],
  rows: readonly Row[],
): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** As it is sent: each row in the form that the API shows. */
export function mapRows<Row, View>(
  { rows }: ListAnswer<Row> | LongListAnswer<Row>,
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
