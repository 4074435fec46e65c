/** Caches as the console sees them: agents with the group that they are in, as far as the caller may see it. */
import { seesGroup } from '../../../domain/console-role.js'
import type { Actor } from '../../../domain/permission.js'
import {
  findAgent as findAgentRow,
  selectAgents,
  toAgentRecords,
  type AgentRecord,
} from '../../../store/agents.js'
import { scopeOf, type StateService } from '../service.js'

export interface ConsoleCache {
  readonly agent: AgentRecord
  /** Null: it is in none. */
  readonly group: { readonly id: number; readonly name: string } | null
}

/** By id. */
export async function listCaches(service: StateService, actor: Actor): Promise<ConsoleCache[]> {
  const { queries } = service.store
  const rows = await selectAgents(queries, scopeOf(actor)).orderBy('agents.id').execute()
  const caches = (await toAgentRecords(queries, rows)).map((agent) => ({ agent, group: null }))
  return caches.filter((cache) => seesCache(actor, cache))
}

/** Undefined: there is none, or not for this caller. */
export async function findCache(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<ConsoleCache | undefined> {
  const agent = await findAgentRow(service.store.queries, scopeOf(actor), id)
  const cache = agent && { agent, group: null }
  return cache && seesCache(actor, cache) ? cache : undefined
}

function seesCache(actor: Actor, { group }: ConsoleCache): boolean {
  return seesGroup(actor, group?.id ?? null)
}
