/**
 * Rows that a statement is given as one parameter, JSON that both databases unpack alike. Its text is the same however many rows
 * there are: it is composed with a handful of nodes and prepared once, where a list of `values` is new each time.
 */
import { sql, type RawBuilder } from 'kysely'
import { inPieces } from './in-pieces.js'
import { prepareQuery } from './prepared-query.js'
import type { Queries } from './store.js'

export type GivenType = 'bigint' | 'text'
type GivenValue = number | string | null
type GivenRow = readonly GivenValue[]

/** A statement that is given rows, composed once for each store; answers what it returns, piece by piece of the rows. */
export function prepareGiven<Row>(
  types: readonly GivenType[],
  compose: (given: RawBuilder<unknown>) => RawBuilder<Row>,
): (queries: Queries, rows: readonly GivenRow[]) => Promise<Row[]> {
  const run = prepareQuery((queries) => ({
    compile: () => compose(listGiven(types, [])).compile(queries),
  }))
  return (queries, rows) => inPieces(rows, (piece) => run(queries, [toJson(piece)]))
}

/** A `select`, for `with given(…) as (…)`. */
export function listGiven(
  types: readonly GivenType[],
  rows: readonly GivenRow[],
): RawBuilder<unknown> {
  const columns = types.map((type, at) =>
    type === 'text' ? `value ->> ${at}` : `cast(value ->> ${at} as ${type})`,
  )
  return sql`select ${sql.raw(columns.join(', '))} from json_each(${toJson(rows)})`
}

/** For `where id in …`, in no order. */
export function listIds(ids: readonly number[]): RawBuilder<number> {
  return sql<number>`(select cast(key as bigint) from json_each(${writeIds(ids)}))`
}

/** What a prepared query is given for its `listIds`. */
export function writeIds(ids: readonly number[]): string {
  return ids.length === 0 ? '{}' : `{"${ids.join('":0,"')}":0}`
}

/** An object, since `json_each` of PostgreSQL takes no array. */
function toJson(rows: readonly GivenRow[]): string {
  return `{${rows.map((row, at) => `"${at}":${JSON.stringify(row.map(toWellFormed))}`).join(',')}}`
}

/** Half a surrogate pair, which agents may send, is no text for PostgreSQL. */
function toWellFormed(value: GivenValue): GivenValue {
  return typeof value === 'string' ? value.toWellFormed() : value
}
