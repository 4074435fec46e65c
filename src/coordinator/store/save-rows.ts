/** Whole rows, new ones and changed ones alike, in one statement for many. */
import { sql, type Insertable, type RawBuilder } from 'kysely'
import { prepareGiven } from './given-rows.js'
import type { Tables } from './schema.js'
import type { Queries } from './store.js'
import type { Table } from './tables/table.js'

/** Answers how to write rows of this table: a row with the same primary key is overwritten. */
export function prepareSave<T extends keyof Tables>(name: T, { columns, keys }: Table) {
  const { primaryKey = [] } = keys
  const names = Object.keys(columns) as (keyof Insertable<Tables[T]>)[] // a table's columns are its type's
  const types = Object.values(columns).map(({ given }) => given)
  const changing = names.map(String).filter((column) => !primaryKey.includes(column))
  const insert = sql`insert into ${sql.table(name)} (${list(names.map(String))})`
  const update = sql`on conflict (${list(primaryKey)}) do update set ${sql.join(
    changing.map((column) => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`),
  )}`
  const save = prepareGiven(types, (given) => sql`${insert} ${given} where true ${update}`)
  return async (queries: Queries, rows: readonly Insertable<Tables[T]>[]): Promise<void> => {
    await save(
      queries,
      rows.map((row) => names.map((column) => row[column] as string | number | null)),
    )
  }
}

function list(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)))
}
