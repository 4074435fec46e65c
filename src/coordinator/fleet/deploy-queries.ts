/**
 * Deploys in phase one: written before the first instruction, deleted with the decision. At most one per group.
 *
 * Each belongs to the coordinator process that runs it and renews its lease. Another process takes over an expired lease,
 * with the next epoch; writes of the earlier owner are conditional on its own epoch.
 */
import type { Selectable } from 'kysely'
import type { PlacementHolder } from './agent-index.js'
import { parseSources, type Release } from './vcl-group.js'
import type { GroupAction } from './history-queries.js'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

/** The actions that run in two phases. */
export type DeployAction = Exclude<GroupAction, 'undeploy' | 'delstage'>

export interface DeployRecord {
  readonly id: number
  readonly groupId: number
  readonly organizationId: number | null
  readonly action: DeployAction
  /** The revision of the group or its stage after the switch. */
  readonly revision: number
  readonly sources: Release
  readonly traceId: string
  readonly account: string
  readonly startedAt: number
  /** The coordinator process that runs it. */
  readonly owner: string
  readonly epoch: number
  /** The rollout that is its second phase; null: all agents switch at once. */
  readonly rolloutId: number | null
}

/** The holder of the placements that it changes. */
export function holderOf({
  groupId,
  action,
}: Pick<DeployRecord, 'groupId' | 'action'>): PlacementHolder {
  return { groupId, stage: action === 'stage' }
}

export async function insertDeploy(
  queries: Queries,
  deploy: Omit<DeployRecord, 'id'>,
  leaseExpiresAt: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('deploys')
    .values({
      ...deploy,
      leaseExpiresAt,
      sources: JSON.stringify(deploy.sources),
      sha: deploy.sources.sha,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function readDeploys(
  queries: Queries,
  groupIds?: readonly number[],
): Promise<DeployRecord[]> {
  let deploys = queries.selectFrom('deploys').selectAll().orderBy('id')
  if (groupIds) deploys = deploys.where('groupId', 'in', [...groupIds])
  return (await deploys.execute()).map(fromRow)
}

function fromRow(row: Selectable<Tables['deploys']>): DeployRecord {
  return {
    id: row.id,
    groupId: row.groupId,
    organizationId: row.organizationId,
    action: row.action as DeployAction, // written by insertDeploy only
    revision: row.revision,
    sources: parseSources(row.sources),
    traceId: row.traceId,
    account: row.account,
    startedAt: row.startedAt,
    owner: row.owner,
    epoch: row.epoch,
    rolloutId: row.rolloutId,
  }
}

/** The condition for writes of a deploy: no other process has taken it over. */
export type DeployHold = Pick<DeployRecord, 'id' | 'epoch'>

/** Call under the decision lock if a write depends on the result. */
export async function holdsDeploy(queries: Queries, hold: DeployHold): Promise<boolean> {
  return (await selectHeld(queries, hold).executeTakeFirst()) !== undefined
}

/** Selects one row unless the deploy was taken over or has ended. */
export function selectHeld(queries: Queries, { id, epoch }: DeployHold) {
  return queries
    .selectFrom('deploys')
    .select('deploys.id')
    .where('deploys.id', '=', id)
    .where('deploys.epoch', '=', epoch)
}

/** Returns false if another process owns it or it has ended. */
export async function renewDeploy(
  queries: Queries,
  { id, epoch }: DeployHold,
  leaseExpiresAt: number,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('deploys')
    .set({ leaseExpiresAt })
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Takes over deploys whose lease has expired at `now`; each is returned to one caller only. */
export async function takeExpiredDeploys(
  queries: Queries,
  taken: { readonly owner: string; readonly now: number; readonly leaseExpiresAt: number },
): Promise<DeployRecord[]> {
  const { owner, now, leaseExpiresAt } = taken
  const rows = await queries
    .updateTable('deploys')
    .set((e) => ({ owner, leaseExpiresAt, epoch: e('epoch', '+', 1) }))
    .where('leaseExpiresAt', '<', now)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/** Returns false if it has already ended or another process has taken it over: then this caller must not decide. */
export async function deleteDeploy(queries: Queries, { id, epoch }: DeployHold): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('deploys')
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
