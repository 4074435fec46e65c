/** The api log: one row for each call that is no GET and each failed login, never bodies (choices: 2). */
import type { Insertable, Selectable } from 'kysely'
import type { ListFields, ListQuery } from '../../resources/list-query.js'
import { readList, type ListColumns } from '../store/list-query.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type ApiLogRecord = Readonly<Selectable<Tables['apiLogs']>>
export type NewApiLog = Readonly<Insertable<Tables['apiLogs']>>

/** What the list of them is filtered and sorted by. */
export const apiLogColumns = {
  id: { column: 'apiLogs.id', type: 'number' },
  created: { column: 'apiLogs.createdAt', type: 'time' },
  severity: { column: 'apiLogs.severity', type: 'number' },
  msg: { column: 'apiLogs.msg', type: 'text' },
  keyType: { column: 'apiLogs.keyType', type: 'text' },
  keyId: { column: 'apiLogs.keyId', type: 'number', nullable: true },
  traceId: { column: 'apiLogs.traceId', type: 'text' },
  account: { column: 'apiLogs.account', type: 'text' },
  method: { column: 'apiLogs.method', type: 'text' },
  path: { column: 'apiLogs.path', type: 'text' },
  status: { column: 'apiLogs.status', type: 'number' },
  asksOnly: { column: 'apiLogs.asksOnly', type: 'flag' },
} satisfies ListColumns & ListFields

export async function listApiLogs(
  queries: Queries,
  scope: Scope,
  list: ListQuery,
): Promise<{ rows: ApiLogRecord[]; total: number }> {
  return readList(selectApiLogs(queries, scope), list, apiLogColumns)
}

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
