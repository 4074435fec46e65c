/** Agents as the API lists, reads and changes them; what an agent is asked goes through `instruct.ts`. */
import { parseListQuery } from '../../resources/list-query.js'
import type { Actor } from '../../resources/permission.js'
import { readTagsOfAgents, replaceAssignedTags } from '../fleet/agent-tags.js'
import {
  findAgent as findAgentRow,
  selectAgents,
  toAgentRecords,
  type AgentRecord,
} from '../fleet/agent-queries.js'
import { agentColumns, agentColumnsFor } from '../fleet/list-columns.js'
import { toOwner } from '../store/owner.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import { tellAgentsChanged } from './agent-hints.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { requireAll, requireOwner } from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import { changeTargets } from '../placement/shortfall.js'

export type { AgentRecord } from '../fleet/agent-queries.js'

export const agentListFields = Object.keys(agentColumns)

/** Three queries at most for a page; the whole fleet in pieces. */
export async function listAgents(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<AgentRecord>> {
  const { queries, recall } = service.store
  const scope = scopeOf(actor)
  const list = parseListQuery(query, agentColumns, 'agent')
  const read = () =>
    readLongList(selectAgents(queries, scope), list, agentColumnsFor(scope), (rows) =>
      toAgentRecords(queries, rows),
    )
  if (list.take === null) return read()
  const key = `agents ${JSON.stringify([scope, list])}`
  return recall({ key, rows: list.take.limit }, read)
}

export async function findAgent(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<AgentRecord | undefined> {
  const { queries, recall } = service.store
  const scope = scopeOf(actor)
  const key = `agent ${id} ${JSON.stringify(scope)}`
  return recall({ key, rows: 1 }, () => findAgentRow(queries, scope, id))
}

/** Those of these ids that the caller may see. */
export async function findVisibleAgents(
  service: StateService,
  actor: Actor,
  ids: readonly number[],
): Promise<OwnedAgent[]> {
  const rows = await selectAgents(service.store.queries, scopeOf(actor))
    .clearSelect()
    .select(['agents.id', 'agents.name', 'agents.organizationId'])
    .select('organizations.name as organizationName')
    .where('agents.id', 'in', [...ids])
    .execute()
  return rows.map((row) => ({ id: row.id, name: row.name, organization: toOwner(row) }))
}

export type OwnedAgent = Pick<AgentRecord, 'id' | 'name' | 'organization'>

/** Throws 'forbidden' for an agent that is only shared with the caller. */
export async function findOwnAgent(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<AgentRecord | undefined> {
  const agent = await findAgent(service, actor, id)
  if (agent) requireOwner(actor, agent, 'agent')
  return agent
}

/** The agent is the caller's own, or the caller sees all: nothing of it is another organization's business. */
export function ownsAgent(actor: Actor, agent: Pick<AgentRecord, 'organization'>): boolean {
  return actor.organizationId === null || agent.organization?.id === actor.organizationId
}

interface TagAssignment {
  readonly tags: readonly { readonly id: number }[]
  /** Also when a deployed group falls below its min by this. */
  readonly force: boolean
}

/** The list replaces the assigned tags; static ones stay and may be listed (choices: 2, tags). */
export async function assignTags(
  service: StateService,
  actor: Actor,
  agent: AgentRecord,
  { tags, force }: TagAssignment,
): Promise<AgentRecord> {
  const borne = new Set(agent.tags.map(({ id }) => id))
  const added = tags.filter(({ id }) => !borne.has(id))
  await requireAll(added, 'tags', 'agent', (ids) =>
    readUsableTagIds(service.store.queries, agent.organization?.id ?? null, ids),
  )
  await changeTargets(service, {
    actor,
    errorKey: 'agent',
    force,
    readGroupIds: async (queries) =>
      (await readPlacements(queries, { agentIds: [agent.id] })).map(({ groupId }) => groupId),
    write: (queries) =>
      replaceAssignedTags(
        queries,
        agent.id,
        tags.map(({ id }) => id),
      ),
  })
  tellAgentsChanged(service, [agent.id])
  const changed = await readTagsOfAgents(service.store.queries, [agent.id])
  return { ...agent, tags: changed.get(agent.id) ?? [] }
}
