/** Reading the api log: who did what, by organization (choices: 2, apilogs). */
import { parseListQuery } from '../../../domain/list-query.js'
import type { Actor } from '../../../domain/permission.js'
import { apiLogColumns, selectApiLogs, type ApiLogRecord } from '../../../store/api-logs.js'
import type { ListParameters } from './computed-list.js'
import { readLongList, type LongListAnswer } from './long-list.js'
import { scopeOf, type StateService } from '../service.js'

export type { ApiLogRecord } from '../../../store/api-logs.js'

export const apiLogListFields = Object.keys(apiLogColumns)

export async function listApiLogs(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<ApiLogRecord>> {
  const list = parseListQuery(query, apiLogColumns, 'apilog')
  const logs = selectApiLogs(service.store.queries, scopeOf(actor))
  return readLongList(logs, list, apiLogColumns, (rows) => rows)
}
