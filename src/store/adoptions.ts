/** Agents whose running VCL is to be adopted, and what became of it (choices: 1, --takeover adopt). */
import type { AdoptionRecord } from './agents.js'
import { isPeoples } from './hidden.js'
import { ownedBy } from './owner.js'
import type { Queries } from './store.js'

/** While it is set, no group is placed on the agent. */
export async function setAdopting(
  queries: Queries,
  agentId: number,
  adopting: boolean,
): Promise<void> {
  await queries
    .updateTable('agents')
    .set({ adopting: adopting ? 1 : 0 })
    .where('id', '=', agentId)
    .execute()
}

/** It is decided: the record stays with the agent, and an api log entry tells of it. */
export async function writeAdoption(
  queries: Queries,
  agentId: number,
  adoption: AdoptionRecord,
  told: { readonly msg: string; readonly traceId: string; readonly at: number },
): Promise<void> {
  const agent = await queries
    .updateTable('agents')
    .set({ adopting: 0, adoption: JSON.stringify(adoption) })
    .where('id', '=', agentId)
    .returning('organizationId')
    .executeTakeFirst()
  if (!agent) return
  await queries
    .insertInto('apiLogs')
    .values({
      organizationId: agent.organizationId,
      createdAt: told.at,
      severity: adoption.result === 'adopted' ? 1 : 2,
      msg: told.msg,
      keyType: 'agent',
      keyId: agentId,
      traceId: told.traceId,
      // Nobody called.
      account: '',
      method: '',
      path: '',
      status: 0,
    })
    .execute()
}

/** The agent itself sends this tag from now on. */
export async function addStaticTag(
  queries: Queries,
  agentId: number,
  tagId: number,
): Promise<void> {
  await queries
    .insertInto('agentTags')
    .values({ agentId, tagId, static: 1, assigned: 0 })
    .onConflict((conflict) => conflict.columns(['agentId', 'tagId']).doUpdateSet({ static: 1 }))
    .execute()
}

/** Whether the owner has a group or a deployment of this name, or one of these files. */
export async function isAdoptedNameTaken(
  queries: Queries,
  owner: number | null,
  names: { readonly object: string; readonly files: readonly string[] },
): Promise<boolean> {
  const group = await queries
    .selectFrom('vclGroups')
    .select('id')
    .where('name', '=', names.object)
    .where(ownedBy(owner, 'vclGroups'))
    .executeTakeFirst()
  const deployment = await queries
    .selectFrom('deployments')
    .select('id')
    .where('name', '=', names.object)
    .where(ownedBy(owner, 'deployments'))
    .where(isPeoples('deployments'))
    .executeTakeFirst()
  const file = await queries
    .selectFrom('files')
    .select('id')
    .where('name', 'in', [...names.files])
    .where(ownedBy(owner, 'files'))
    .executeTakeFirst()
  return [group, deployment, file].some((one) => one !== undefined)
}
