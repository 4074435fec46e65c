/** Reading the api log: who did what, by organization (choices: 2, apilogs). */
import { parseListQuery } from '../../resources/list-query.js'
import type { Actor } from '../../resources/permission.js'
import { apiLogColumns, selectApiLogs, type ApiLogRecord } from './api-log-queries.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { scopeOf, type StateService } from '../service.js'

export type { ApiLogRecord } from './api-log-queries.js'

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
