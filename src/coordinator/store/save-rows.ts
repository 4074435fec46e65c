/** Writes many whole rows, new and changed, in one statement. */
import { sql, type Insertable, type RawBuilder } from 'kysely'
import { prepareGiven } from './given-rows.js'
import type { Tables } from './schema.js'
import type { Queries } from './store.js'
import type { Table } from './tables/table.js'

/** Returns a function that writes rows of this table: a row with the same primary key is overwritten. */
export function prepareSave<T extends keyof Tables>(name: T, { columns, keys }: Table) {
  const { primaryKey = [] } = keys
  const names = Object.keys(columns)
  const changing = names.filter((column) => !primaryKey.includes(column))
  const insert = sql`insert into ${sql.table(name)} (${list(names)})`
  const update = sql`on conflict (${list(primaryKey)}) do update set ${sql.join(
    changing.map((column) => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`),
  )}`
  const types = Object.entries(columns).map(([column, { given }]) => [column, given] as const)
  const save = prepareGiven(Object.fromEntries(types), ({ from, ...values }) => {
    const row = sql.join(names.map((column) => values[column]))
    return sql`${insert} select ${row} ${from} where true ${update}`
  })
  return async (queries: Queries, rows: readonly Insertable<Tables[T]>[]): Promise<void> => {
    await save(queries, rows)
  }
}

function list(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)))
}
