/**
 * Rows that a statement is given as one parameter, JSON that both databases unpack alike. Its text is the same however many rows
 * there are: it is composed with a handful of nodes and prepared once, where a list of `values` is new each time.
 */
import { sql, type RawBuilder } from 'kysely'

export type GivenType = 'bigint' | 'text'
type GivenValue = number | string | null

/** A `select`, for `with given(…) as (…)`. */
export function listGiven(
  types: readonly GivenType[],
  rows: readonly (readonly GivenValue[])[],
): RawBuilder<unknown> {
  const columns = types.map((type, at) =>
    type === 'text' ? `value ->> ${at}` : `cast(value ->> ${at} as ${type})`,
  )
  return sql`select ${sql.raw(columns.join(', '))} from json_each(${toJson(rows)})`
}

/** For `where id in …`, in no order. */
export function listIds(ids: readonly number[]): RawBuilder<number> {
  const json = ids.length === 0 ? '{}' : `{"${ids.join('":0,"')}":0}`
  return sql<number>`(select cast(key as bigint) from json_each(${json}))`
}

/** An object, since `json_each` of PostgreSQL takes no array. */
function toJson(rows: readonly (readonly GivenValue[])[]): string {
  return `{${rows.map((row, at) => `"${at}":${JSON.stringify(row.map(toWellFormed))}`).join(',')}}`
}

/** Half a surrogate pair, which agents may send, is no text for PostgreSQL. */
function toWellFormed(value: GivenValue): GivenValue {
  return typeof value === 'string' ? value.toWellFormed() : value
}
