/** The writes common to most nouns' tables: insert, update and delete a row by its id. */
import type { Generated, Insertable, Updateable } from 'kysely'
import { prepareQuery } from './prepared-query.js'
import type { Tables } from './schema.js'
import type { Queries } from './store.js'

type TimedTable = {
  [T in keyof Tables]: Tables[T] extends {
    readonly id: Generated<number>
    readonly createdAt: number
    readonly updatedAt: number
  }
    ? T
    : never
}[keyof Tables]

/** Flags as use cases have them. */
type WithFlags<Row> = {
  readonly [K in keyof Row]: [NonNullable<Row[K]>] extends [0 | 1] ? Row[K] | boolean : Row[K]
}

/** Returns the new row's id. */
export async function insertRow<T extends TimedTable>(
  queries: Queries,
  table: T,
  fields: WithFlags<Omit<Insertable<Tables[T]>, 'id' | 'createdAt' | 'updatedAt'>>,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto<TimedTable>(table)
    .values({ ...toStored(fields), createdAt: now, updatedAt: now } as never) // checked against its own table above
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Same as `insertRow`, for frequent inserts: needs all of these columns, in their stored form. */
export function prepareInsert<
  T extends TimedTable,
  Column extends keyof Insertable<Tables[T]> & string,
>(
  table: T,
  columns: readonly Column[],
): (queries: Queries, row: Readonly<Pick<Insertable<Tables[T]>, Column>>) => Promise<number> {
  const any = Object.fromEntries(columns.map((column) => [column, 0]))
  const insert = prepareQuery((queries) =>
    queries
      .insertInto<TimedTable>(table)
      .values(any as never) // replaced by values of the columns' types at execution
      .returning('id'),
  )
  return async (queries, row) => {
    const [made] = await insert(
      queries,
      columns.map((column) => row[column]),
    )
    if (!made) throw new Error(`no row of ${table} was made`)
    return made.id
  }
}

export async function updateRow<T extends TimedTable>(
  queries: Queries,
  table: T,
  id: number,
  fields: WithFlags<Omit<Updateable<Tables[T]>, 'id' | 'createdAt'>>,
): Promise<void> {
  await queries
    .updateTable<TimedTable>(table)
    .set(toStored(fields) as never) // checked against its own table above
    .where('id', '=', id)
    .execute()
}

/** Foreign keys prevent it while another row refers to this one. */
export async function deleteRow(queries: Queries, table: TimedTable, id: number): Promise<void> {
  await queries.deleteFrom(table).where('id', '=', id).execute()
}

function toStored(fields: object): object {
  const stored = Object.entries(fields).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'boolean' ? Number(value) : value,
  ])
  return Object.fromEntries(stored) as object
}
