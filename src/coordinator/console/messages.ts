/**
 * The messages of the console: the api log, newest first. Chosen by us: an Admin sees those of its organization, others what is
 * about their groups and the caches in them, whoever did it.
 */
import type { Actor } from '../../resources/permission.js'
import type { ApiLogRecord } from '../api-log/api-log-queries.js'
import {
  findMessage as findMessageRow,
  readMessages,
  type MessageReach,
} from './message-queries.js'
import { scopeOf, type StateService } from '../service.js'
import { readVisibleIds } from './caches/caches.js'
import { isAdmin } from './users/users.js'

export type Message = ApiLogRecord

/** Chosen by us: what is further back is in the controller's `/apilogs`. */
const offsetMost = 100_000
/** Chosen by us: groups and caches of one user, as parameters of a statement. */
const objectsMost = 10_000

export async function listMessages(
  service: StateService,
  actor: Actor,
  range: { readonly limit: number; readonly offset: number },
): Promise<readonly Message[]> {
  if (range.offset > offsetMost) return []
  return readMessages(service.store.queries, await reachOf(service, actor), range)
}

export async function findMessage(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<Message | undefined> {
  return findMessageRow(service.store.queries, await reachOf(service, actor), id)
}

async function reachOf(service: StateService, actor: Actor): Promise<MessageReach> {
  if (isAdmin(actor)) return { kind: 'scope', scope: scopeOf(actor) }
  const groupIds = [...(actor.console?.groupIds ?? [])].slice(0, objectsMost)
  const visible = groupIds.length === 0 ? [] : await readVisibleIds(service.store.queries, actor)
  const agentIds = visible.slice(0, objectsMost)
  return { kind: 'objects', organizationId: actor.organizationId, groupIds, agentIds }
}
