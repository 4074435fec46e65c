/** What the store itself remembers of its coordinator: a few named texts, written once. */
import type { Queries } from './store.js'

/** Answers what stands there; the first of several writers wins. */
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
