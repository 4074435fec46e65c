/** The api log as the console reads it: newest first, of a whole scope or of some groups and caches of one owner. */
import { selectApiLogs, type ApiLogRecord } from '../api-log/api-log-queries.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type MessageReach =
  | { readonly kind: 'scope'; readonly scope: Scope }
  | {
      readonly kind: 'objects'
      /** Null: the system administrator's own. */
      readonly organizationId: number | null
      readonly groupIds: readonly number[]
      readonly agentIds: readonly number[]
    }

/** Both APIs' words for what a call was about. */
const groupKeys = ['group', 'vclgroup']
const agentKeys = ['cache', 'agent']

export async function readMessages(
  queries: Queries,
  reach: MessageReach,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly ApiLogRecord[]> {
  return selectMessages(queries, reach)
    .orderBy('apiLogs.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

export async function findMessage(
  queries: Queries,
  reach: MessageReach,
  id: number,
): Promise<ApiLogRecord | undefined> {
  return selectMessages(queries, reach).where('apiLogs.id', '=', id).executeTakeFirst()
}

function selectMessages(queries: Queries, reach: MessageReach) {
  if (reach.kind === 'scope') return selectApiLogs(queries, reach.scope)
  const { organizationId, groupIds, agentIds } = reach
  // By ids: SQLite without statistics would read all of the organization's instead.
  const about = selectAbout(queries, groupKeys, groupIds).union(
    selectAbout(queries, agentKeys, agentIds),
  )
  return selectApiLogs(queries, { kind: 'all' })
    .where('apiLogs.organizationId', organizationId === null ? 'is' : '=', organizationId)
    .where('apiLogs.id', 'in', about)
}

function selectAbout(queries: Queries, keyTypes: readonly string[], ids: readonly number[]) {
  // Zero is nobody's id; PostgreSQL has no empty `in ()`.
  const some = ids.length === 0 ? [0] : [...ids]
  return queries
    .selectFrom('apiLogs')
    .select('apiLogs.id')
    .where('apiLogs.keyType', 'in', [...keyTypes])
    .where('apiLogs.keyId', 'in', some)
}
