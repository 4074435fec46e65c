/** Caches in the console: agents with the group they are in, as far as the caller may see it. */
import { seesGroup } from '../../../resources/console-role.js'
import { findNameProblem } from '../../../resources/names.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import type { ConsoleColumns } from '../../fleet/agent-rows.js'
import { readAgentIds, readAgents, type AgentRecord } from '../../fleet/agent-queries.js'
import {
  readAgentsOfGroups,
  readGroupsOfAgents,
  type GroupOfAgent,
} from '../../fleet/group-members.js'
import type { Queries } from '../../store/store.js'
import { updateRow } from '../../store/write-rows.js'
import { deleteAgent } from '../../agents/agent-removal.js'
import { readByIds } from '../../store/long-list.js'
import { requireOwner } from '../../api/find-references.js'
import { scopeOf, type StateService } from '../../service.js'

export interface ConsoleCache {
  readonly agent: AgentRecord
  /** Null: in no group. */
  readonly group: { readonly id: number; readonly name: string } | null
}

/** By id; `take` selects from the ids. Long lists are read while they are sent. */
export async function listCaches(
  service: StateService,
  actor: Actor,
  take: (ids: readonly number[]) => readonly number[] = (ids) => ids,
): Promise<readonly ConsoleCache[] | AsyncIterable<ConsoleCache>> {
  const ids = await readVisibleIds(service.store.queries, actor)
  return readByIds(take(ids), (some) => readCaches(service, actor, some))
}

/** Undefined if it does not exist or the caller may not see it. */
export async function findCache(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<ConsoleCache | undefined> {
  const [cache] = await readCaches(service, actor, [id])
  return cache
}

/** Throws 'forbidden' if the agent is only shared with the caller. */
export async function findOwnCache(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<ConsoleCache | undefined> {
  const cache = await findCache(service, actor, id)
  if (cache) requireOwner(actor, cache.agent, 'cache')
  return cache
}

/** Absent keys keep their values; a null name restores the composed name. */
interface CacheChange {
  readonly name?: string | null | undefined
  readonly description?: string | undefined
}

/** Throws 'invalid', and 'not-found' if it was deleted meanwhile. */
export async function changeCache(
  service: StateService,
  actor: Actor,
  { agent: { id } }: ConsoleCache,
  { name, description }: CacheChange,
): Promise<ConsoleCache> {
  const problem = name == null ? null : findNameProblem(name)
  if (problem !== null) throw new FleetError('invalid', 'cache', `name: ${problem}`)
  const columns: ConsoleColumns = {
    ...(name !== undefined && { consoleName: name }),
    ...(description !== undefined && { description }),
  }
  if (Object.keys(columns).length > 0)
    await updateRow(service.store.queries, 'agents', id, { ...columns, updatedAt: service.now() })
  const changed = await findCache(service, actor, id)
  if (!changed) throw new FleetError('not-found', 'cache', 'the cache was deleted meanwhile')
  return changed
}

/** Deletes its agent. Throws 'conflict' if it is in a group or holds something of the controller, unless forced. */
export async function deleteCache(
  service: StateService,
  { agent, group }: ConsoleCache,
  options: { readonly force: boolean },
): Promise<void> {
  if (group && !options.force)
    throw new FleetError(
      'conflict',
      'cache',
      `it is in the group ${JSON.stringify(group.name)}; take it out there first, or ?force=true forgets it all the same`,
    )
  await deleteAgent(service, agent, options)
}

/** Ids of agents, sorted. */
export async function readVisibleIds(queries: Queries, actor: Actor): Promise<readonly number[]> {
  const groupIds = actor.console?.groupIds ?? null
  if (groupIds === null) return readAgentIds(queries, scopeOf(actor))
  const agents = await readAgentsOfGroups(queries, [...groupIds])
  return [...new Set([...agents.values()].flat())].toSorted((a, b) => a - b)
}

/** In the order of the ids, without caches that the caller does not see. Four queries. */
async function readCaches(
  { store: { queries } }: StateService,
  actor: Actor,
  ids: readonly number[],
): Promise<ConsoleCache[]> {
  const agents = await readAgents(queries, scopeOf(actor), ids)
  const groups = await readGroupsOfAgents(queries, ids)
  return agents
    .map((agent) => ({ agent, group: groupFor(actor, groups.get(agent.id)) }))
    .filter(({ group }) => seesGroup(actor, group?.id ?? null))
}

/** Hides a group of another organization on a shared agent. */
function groupFor(actor: Actor, group: GroupOfAgent | undefined): ConsoleCache['group'] {
  if (!group || (actor.organizationId ?? group.organizationId) !== group.organizationId) return null
  return { id: group.id, name: group.name }
}
