/** Agents as the API lists, reads and changes them; questions to an agent go through `instruct.ts`. */
import { parseListQuery } from '../../resources/list-query.js'
import { agent } from '../../resources/agent.js'
import type { Actor } from '../../resources/permission.js'
import { replaceAssignedTags } from '../fleet/agent-tags.js'
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
import { notifyAgentsChanged } from './agent-hints.js'
import type { ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { isSame, mergeWritten } from '../store/resource-rows.js'
import type { Queries } from '../store/store.js'
import { updateRow } from '../store/write-rows.js'
import { requireAll, requireOwner } from '../api/find-references.js'
import type { UpdateBody } from '../api/resource-schemas.js'
import { scopeOf, type StateService } from '../service.js'
import { changeTargets } from '../placement/shortfall.js'

export type { AgentRecord } from '../fleet/agent-queries.js'

export const agentListFields = Object.keys(agentColumns)

/** At most three queries per page; the whole fleet is read in pieces. */
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
  return recall({ key, rows: 1, agentId: id }, () => findAgentRow(queries, scope, id))
}

/** Returns the agents of these ids that the caller may read. */
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

/** Throws 'forbidden' for an agent that is merely shared with the caller. */
export async function findOwnAgent(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<AgentRecord | undefined> {
  const found = await findAgent(service, actor, id)
  if (found) requireOwner(actor, found, 'agent')
  return found
}

/** True if the agent is the caller's own, or the caller may read all organizations. */
export function ownsAgent(actor: Actor, one: Pick<AgentRecord, 'organization'>): boolean {
  return actor.organizationId === null || one.organization?.id === actor.organizationId
}

interface AgentChange {
  readonly body: UpdateBody<typeof agent.fields>
  /** Applies the change even if a deployed group falls below its min. */
  readonly force: boolean
}

/** The list replaces the assigned tags; static tags stay and may be listed. */
export async function updateAgent(
  service: StateService,
  actor: Actor,
  before: AgentRecord,
  { body, force }: AgentChange,
): Promise<AgentRecord> {
  const { store } = service
  const written = mergeWritten(agent, body, before)
  const isPlainSame = isSame(written, before)
  const writePlain = async (queries: Queries): Promise<void> => {
    if (isPlainSame) return
    await updateRow(queries, 'agents', before.id, { ...written, updatedAt: service.now() })
  }
  if (body.tags === undefined) {
    if (isPlainSame) return before
    await store.transaction(writePlain)
  } else {
    const ids = await findAssignable(service, before, body.tags ?? [])
    await changeTargets(service, {
      actor,
      errorKey: 'agent',
      force,
      readGroupIds: async (queries) =>
        (await readPlacements(queries, { agentIds: [before.id] })).map(({ groupId }) => groupId),
      write: async (queries) => {
        await replaceAssignedTags(queries, before.id, ids)
        await writePlain(queries)
      },
    })
  }
  notifyAgentsChanged(service, [before.id])
  return (await findAgentRow(store.queries, scopeOf(actor), before.id)) ?? before
}

async function findAssignable(
  { store }: StateService,
  { tags: borne, organization }: AgentRecord,
  tags: readonly { readonly id: number }[],
): Promise<number[]> {
  const added = tags.filter(({ id }) => !borne.some((one) => one.id === id))
  await requireAll(added, 'tags', 'agent', (ids) =>
    readUsableTagIds(store.queries, organization?.id ?? null, ids),
  )
  return tags.map(({ id }) => id)
}
