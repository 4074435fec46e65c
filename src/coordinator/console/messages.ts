/**
 * The messages of the console: the api log, newest first. An Admin sees those of its organization; other users see those about
 * their groups and the caches in them, regardless of the author.
 */
import type { Actor } from '../../resources/permission.js'
import { selectApiLogs, type ApiLogRecord } from '../api-log/api-log-queries.js'
import { ownedBy } from '../store/owner.js'
import type { Queries } from '../store/store.js'
import { scopeOf, type StateService } from '../service.js'
import { readVisibleIds } from './caches/caches.js'
import { isAdmin } from './users/users.js'

export type Message = ApiLogRecord

/** Older messages are in the controller's `/apilogs`. */
const maxOffset = 100_000
/** Groups and caches of one user, which become parameters of one statement. */
const maxObjects = 10_000
/** Both APIs' words for what a call was about. */
const groupKeys = ['group', 'vclgroup']
const agentKeys = ['cache', 'agent']

export async function listMessages(
  service: StateService,
  actor: Actor,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly Message[]> {
  if (offset > maxOffset) return []
  const messages = await selectMessages(service, actor)
  return messages.query.orderBy('apiLogs.id', 'desc').limit(limit).offset(offset).execute()
}

export async function findMessage(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<Message | undefined> {
  const messages = await selectMessages(service, actor)
  return messages.query.where('apiLogs.id', '=', id).executeTakeFirst()
}

/** All of the scope, or about some groups and caches of one owner. In an object: a query that is awaited by itself throws. */
async function selectMessages({ store: { queries } }: StateService, actor: Actor) {
  if (isAdmin(actor)) return { query: selectApiLogs(queries, scopeOf(actor)) }
  const groupIds = [...(actor.console?.groupIds ?? [])].slice(0, maxObjects)
  const visible = groupIds.length === 0 ? [] : await readVisibleIds(queries, actor)
  const agentIds = visible.slice(0, maxObjects)
  // By ids: SQLite without statistics would read all of the organization's instead.
  const about = selectAbout(queries, groupKeys, groupIds).union(
    selectAbout(queries, agentKeys, agentIds),
  )
  const own = selectApiLogs(queries, { kind: 'all' }).where(
    ownedBy(actor.organizationId, 'apiLogs'),
  )
  return { query: own.where('apiLogs.id', 'in', about) }
}

function selectAbout(queries: Queries, keyTypes: readonly string[], ids: readonly number[]) {
  // No object has id 0; PostgreSQL has no empty `in ()`.
  const some = ids.length === 0 ? [0] : [...ids]
  return queries
    .selectFrom('apiLogs')
    .select('apiLogs.id')
    .where('apiLogs.keyType', 'in', [...keyTypes])
    .where('apiLogs.keyId', 'in', some)
}
