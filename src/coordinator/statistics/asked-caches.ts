/** Chooses the caches of a query: one agent's, those of a group, or all that the caller may see; used by both APIs. */
import type { Actor } from '../../resources/permission.js'
import { readAgentOwners, type AgentOwner } from '../fleet/agent-queries.js'
import { readGroupAgents } from '../fleet/group-placements.js'
import { inPieces } from '../store/in-pieces.js'
import type { AskedCache } from './store/statistics-archive.js'
import { findVisibleAgents, type OwnedAgent } from '../agents/agents.js'
import { scopeOf, type StateService } from '../service.js'

export type { AskedCache } from './store/statistics-archive.js'

/** Backends of a shared cache may belong to another organization; only it may see their names. */
const ofBackends = 'VBE.'

export function askCache(actor: Actor, agent: OwnedAgent): AskedCache {
  return askOwned(actor, { id: agent.id, organizationId: agent.organization?.id ?? null })
}

/** Agents that do not exist or are not visible are omitted. */
export async function askCaches(
  service: StateService,
  actor: Actor,
  agentIds: readonly number[],
): Promise<readonly AskedCache[]> {
  const agents = await inPieces(agentIds, (ids) => findVisibleAgents(service, actor, ids))
  return agents.map((agent) => askCache(actor, agent))
}

/** All caches that the caller may see, by id; with `tagIds` only those that have all these tags. */
export async function askVisibleCaches(
  { store }: StateService,
  actor: Actor,
  tagIds: readonly number[] = [],
): Promise<readonly AskedCache[]> {
  const agents = await readAgentOwners(store.queries, scopeOf(actor), tagIds)
  return agents.map((agent) => askOwned(actor, agent))
}

/** The caches that hold these groups now; a cache they have left no longer counts, even for earlier times. */
export async function askGroupCaches(
  service: StateService,
  actor: Actor,
  groupIds: readonly number[],
): Promise<readonly AskedCache[]> {
  const agents = await readGroupAgents(service.store.queries, groupIds)
  return agents.map((agent) => askOwned(actor, agent))
}

function askOwned(actor: Actor, { id, organizationId }: AgentOwner): AskedCache {
  const isOwn = actor.organizationId === null || organizationId === actor.organizationId
  return { agentId: id, hidden: isOwn ? null : ofBackends }
}
