/** The api log: one row for each call that is not a GET and each failed login, never bodies (docs/behaviour.md, API log). */
import type { Insertable, Selectable } from 'kysely'
import { apiLogEntry } from '../../resources/api-log-entry.js'
import { listColumns } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type ApiLogRecord = Readonly<Selectable<Tables['apiLogs']>>
export type NewApiLog = Readonly<Insertable<Tables['apiLogs']>>

export const apiLogColumns = listColumns(apiLogEntry.fields, 'apiLogs')

export function selectApiLogs(queries: Queries, scope: Scope) {
  return queries.selectFrom('apiLogs').selectAll().where(within(scope, 'apiLogs'))
}

/** At most a few hundred at once: each is a dozen parameters of the statement. */
export async function insertApiLogs(queries: Queries, rows: readonly NewApiLog[]): Promise<void> {
  if (rows.length === 0) return
  await queries
    .insertInto('apiLogs')
    .values([...rows])
    .execute()
}

/** Deletes at most `limit` and answers how many: small steps keep the writer free for others. */
export async function deleteApiLogsBefore(
  queries: Queries,
  createdAt: number,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('apiLogs')
    .where('id', 'in', (e) =>
      e
        .selectFrom('apiLogs')
        .select('id')
        .where('createdAt', '<', createdAt)
        .orderBy('createdAt')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
