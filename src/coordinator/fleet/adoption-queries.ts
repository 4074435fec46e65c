/** Agents whose running VCL is to be adopted, and the outcome (docs/behaviour.md, Takeover). */
import { logOfAgent } from './agent-rows.js'
import { addTags, removeStaticTag } from './agent-tags.js'
import { parseAdoption, type AdoptionRecord } from './agent-queries.js'
import type { Queries } from '../store/store.js'
import { updateRow } from '../store/write-rows.js'

/** Prefix of the names of groups and tags that adoptions create. */
export const adoptedPrefix = 'adopted-'

/** While it is set, no group is placed on the agent. */
export async function setAdopting(
  queries: Queries,
  agentId: number,
  adopting: boolean,
): Promise<void> {
  await updateRow(queries, 'agents', agentId, { adopting })
}

/** Ends the adoption: stores the record with the agent and adds an API log entry. */
export async function writeAdoption(
  queries: Queries,
  agentId: number,
  adoption: AdoptionRecord,
  logged: { readonly msg: string; readonly traceId: string; readonly at: number },
): Promise<void> {
  const agent = await queries
    .updateTable('agents')
    .set({ adopting: 0, adoption: JSON.stringify(adoption) })
    .where('id', '=', agentId)
    .returning('organizationId')
    .executeTakeFirst()
  if (!agent) return
  const severity = adoption.result === 'adopted' ? 1 : 2
  await logOfAgent(queries, { ...agent, id: agentId }, { ...logged, severity })
}

export async function writeAdoptionDifference(
  queries: Queries,
  agentId: number,
  adoptionDifference: string | null,
): Promise<void> {
  await updateRow(queries, 'agents', agentId, { adoptionDifference })
}

/** The tag stays with the agent like one that the agent itself sends. */
export function addStaticTag(queries: Queries, agentId: number, tagId: number): Promise<void> {
  return addTags(queries, agentId, [tagId], { static: 1 })
}

/** Removes adopted tags from agents: they are needed only as long as a deployment or a stage refers to them. */
export async function releaseAdoptedTags(
  queries: Queries,
  tagIds: readonly number[],
): Promise<void> {
  if (tagIds.length === 0) return
  const bearers = await queries
    .selectFrom('agentTags')
    .innerJoin('tags', 'tags.id', 'agentTags.tagId')
    .innerJoin('agents', 'agents.id', 'agentTags.agentId')
    .select(['agentTags.agentId', 'agentTags.tagId', 'tags.name', 'agents.adoption'])
    .where('agentTags.tagId', 'in', [...tagIds])
    .where('agentTags.static', '=', 1)
    .where('tags.name', 'like', `${adoptedPrefix}%`)
    .where('agents.adoption', 'is not', null)
    .where((e) =>
      e.not(
        e.exists(e.selectFrom('deploymentTags').whereRef('tagId', '=', 'tags.id').select('tagId')),
      ),
    )
    .where((e) =>
      e.not(e.exists(e.selectFrom('stageUses').whereRef('tagId', '=', 'tags.id').select('tagId'))),
    )
    .execute()
  for (const { agentId, tagId, name, adoption } of bearers) {
    const record = parseAdoption(adoption)
    if (record?.tag !== name) continue
    await queries
      .updateTable('agents')
      .set({ adoption: JSON.stringify({ ...record, tag: null }) })
      .where('id', '=', agentId)
      .execute()
    await removeStaticTag(queries, agentId, tagId)
  }
}
