/** Settings that the store keeps about its coordinators: a few named texts. */
import { prepareQuery } from './prepared-query.js'
import type { Queries } from './store.js'

/** Returns the stored value; the first of several writers wins. */
export async function ensureSetting(
  queries: Queries,
  name: string,
  value: string,
): Promise<string> {
  await queries
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await queries
    .selectFrom('settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return row.value
}

const selectSetting = prepareQuery((queries) =>
  queries.selectFrom('settings').select('value').where('name', '=', ''),
)

export async function readSetting(queries: Queries, name: string): Promise<string | undefined> {
  return (await selectSetting(queries, [name]))[0]?.value
}

export async function writeSetting(queries: Queries, name: string, value: string): Promise<void> {
  await queries
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

export async function deleteSetting(queries: Queries, name: string): Promise<void> {
  await queries.deleteFrom('settings').where('name', '=', name).execute()
}
