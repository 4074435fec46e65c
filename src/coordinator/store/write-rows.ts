/** The writes that the tables of most nouns have alike: a row is made, changed and deleted by its id. */
import type { Generated, Insertable, Updateable } from 'kysely'
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

/** Answers the new row's id. */
export async function insertRow<T extends TimedTable>(
  queries: Queries,
  table: T,
  row: Omit<Insertable<Tables[T]>, 'id' | 'createdAt' | 'updatedAt'>,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto<TimedTable>(table)
    .values({ ...row, createdAt: now, updatedAt: now } as never) // checked against its own table above
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateRow<T extends TimedTable>(
  queries: Queries,
  table: T,
  id: number,
  row: Omit<Updateable<Tables[T]>, 'id' | 'createdAt'> & { readonly updatedAt: number },
): Promise<void> {
  await queries
    .updateTable<TimedTable>(table)
    .set(row as never) // checked against its own table above
    .where('id', '=', id)
    .execute()
}

export async function deleteRow(queries: Queries, table: TimedTable, id: number): Promise<void> {
  await queries.deleteFrom(table).where('id', '=', id).execute()
}
