/** The api log as stored. */
import { apiLogColumns, selectApiLogs } from '../../src/coordinator/api-log/api-log-queries.js'
import { readList } from '../../src/coordinator/store/list-query.js'
import type { Scope } from '../../src/coordinator/store/scope.js'
import type { Queries } from '../../src/coordinator/store/store.js'
import type { ListQuery } from '../../src/resources/list-query.js'

export async function listApiLogs(queries: Queries, scope: Scope, list: ListQuery) {
  return readList(selectApiLogs(queries, scope), list, apiLogColumns)
}
