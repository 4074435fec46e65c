/** Whose statistics are asked for: one agent's cache, those of a group, all that a caller may see; both APIs ask by these. */
import type { Actor } from '../../resources/permission.js'
import { readAgentOwners, type AgentOwner } from '../fleet/agent-queries.js'
import { readGroupAgents } from '../fleet/group-placements.js'
import { inPieces } from '../store/in-pieces.js'
import type { AskedCache } from './store/statistics-archive.js'
import { findVisibleAgents, type OwnedAgent } from '../agents/agents.js'
import { scopeOf, type StateService } from '../service.js'

export type { AskedCache } from './store/statistics-archive.js'

/** On a shared cache backends may belong to another organization, which alone may see their names. */
const ofBackends = 'VBE.'

export function askCache(actor: Actor, agent: OwnedAgent): AskedCache {
  return askOwned(actor, { id: agent.id, organizationId: agent.organization?.id ?? null })
}

/** Of those that there are. */
export async function askCaches(
  service: StateService,
  actor: Actor,
  agentIds: readonly number[],
): Promise<readonly AskedCache[]> {
  const agents = await inPieces(agentIds, (ids) => findVisibleAgents(service, actor, ids))
  return agents.map((agent) => askCache(actor, agent))
}

/** Of all that the caller may see, by id; with `tagIds` those that have all of these. */
export async function askVisibleCaches(
  { store }: StateService,
  actor: Actor,
  tagIds: readonly number[] = [],
): Promise<readonly AskedCache[]> {
  const agents = await readAgentOwners(store.queries, scopeOf(actor), tagIds)
  return agents.map((agent) => askOwned(actor, agent))
}

/** Asks the caches that hold these groups now; a cache that they left no longer counts, not even for earlier times. */
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
