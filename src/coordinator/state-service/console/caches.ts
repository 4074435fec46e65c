/** Caches as the console sees them: agents with the group that they are in, as far as the caller may see it. */
import { seesGroup } from '../../../domain/console-role.js'
import { findNameProblem } from '../../../domain/names.js'
import type { Actor } from '../../../domain/permission.js'
import { FleetError } from '../../../errors.js'
import { describeInConsole, type ConsoleColumns } from '../../../store/agent-rows.js'
import {
  findAgent as findAgentRow,
  selectAgents,
  toAgentRecords,
  type AgentRecord,
} from '../../../store/agents.js'
import { tellAgentsChanged } from '../agents/agent-hints.js'
import { requireOwner } from '../objects/references.js'
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

/** Throws 'forbidden' for one whose agent is only shared with the caller. */
export async function findOwnCache(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<ConsoleCache | undefined> {
  const cache = await findCache(service, actor, id)
  if (cache) requireOwner(actor, cache.agent, 'cache')
  return cache
}

/** What is left out stays; a name of null is the composed one again. */
export interface CacheChange {
  readonly name?: string | null | undefined
  readonly description?: string | undefined
}

/** Chosen by us: a paragraph. */
const descriptionLimitCharacters = 4096

/** Throws 'invalid', and 'not-found' when it is gone meanwhile. */
export async function changeCache(
  service: StateService,
  actor: Actor,
  { agent: { id } }: ConsoleCache,
  { name, description }: CacheChange,
): Promise<ConsoleCache> {
  const problem = name == null ? null : findNameProblem(name)
  if (problem !== null) throw new FleetError('invalid', 'cache', `name: ${problem}`)
  if (description !== undefined && description.length > descriptionLimitCharacters)
    throw new FleetError(
      'invalid',
      'cache',
      `description has ${description.length} characters, at most ${descriptionLimitCharacters} are right`,
    )
  const columns: ConsoleColumns = {
    ...(name !== undefined && { consoleName: name }),
    ...(description !== undefined && { description }),
  }
  if (Object.keys(columns).length > 0) {
    await describeInConsole(service.store.queries, id, columns, service.now())
    tellAgentsChanged(service, [id])
  }
  const changed = await findCache(service, actor, id)
  if (!changed) throw new FleetError('not-found', 'cache', 'the cache was deleted meanwhile')
  return changed
}

function seesCache(actor: Actor, { group }: ConsoleCache): boolean {
  return seesGroup(actor, group?.id ?? null)
}
