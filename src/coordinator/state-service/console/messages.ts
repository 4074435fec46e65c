/**
 * The messages of the console: the api log, newest first. Chosen by us: an Admin sees those of its organization, others what is
 * about their groups and the caches in them, whoever did it.
 */
import type { Actor } from '../../../domain/permission.js'
import type { ApiLogRecord } from '../../../store/api-logs.js'
import {
  findMessage as findMessageRow,
  readMessages,
  type MessageReach,
} from '../../../store/console-messages.js'
import { scopeOf, type StateService } from '../service.js'
import { listCaches } from './caches.js'
import { isAdmin } from './users.js'

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
  const agentIds: number[] = []
  const takeSome = (ids: readonly number[]) => ids.slice(0, objectsMost)
  if (groupIds.length > 0)
    for await (const { agent } of await listCaches(service, actor, takeSome))
      agentIds.push(agent.id)
  return { kind: 'objects', organizationId: actor.organizationId, groupIds, agentIds }
}
