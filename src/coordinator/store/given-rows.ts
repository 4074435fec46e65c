/** Rows that a statement is given with `with given(…) as (values …)`, which both databases understand. */
import { sql, type RawBuilder } from 'kysely'

export type GivenType = 'bigint' | 'text'
type GivenValue = number | string | null

/**
 * PostgreSQL takes parameters for text unless the first row says otherwise; `integer` would be too short for times there. No
 * other row says it: SQLite takes five times as long to prepare one with casts.
 */
export function listGiven(
  types: readonly GivenType[],
  rows: readonly (readonly GivenValue[])[],
): RawBuilder<unknown> {
  return sql.join(
    rows.map((row, at) => (at === 0 ? sql`(${castRow(types, row)})` : sql`(${sql.join(row)})`)),
  )
}

function castRow(types: readonly GivenType[], row: readonly GivenValue[]): RawBuilder<unknown> {
  return sql.join(row.map((value, at) => sql`cast(${value} as ${sql.raw(types[at] ?? 'text')})`))
}
