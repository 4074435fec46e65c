/**
 * Deploys in phase one: written before the first instruction, gone with the decision. At most one for each group.
 *
 * Each belongs to the coordinator process that runs it, which prolongs its lease. A lease that is over is taken by another
 * process, with the next epoch; what the earlier owner writes is conditional on its own.
 */
import type { Selectable } from 'kysely'
import type { PlacementHolder } from './agent-index.js'
import { parseSources, type Release } from './vcl-group.js'
import type { GroupAction } from './history-queries.js'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

/** What the two phases are for. */
export type DeployAction = Exclude<GroupAction, 'undeploy' | 'delstage'>

export interface DeployRecord {
  readonly id: number
  readonly groupId: number
  readonly organizationId: number | null
  readonly action: DeployAction
  /** The revision that the switch makes: of the group, or of its stage. */
  readonly revision: number
  readonly sources: Release
  readonly traceId: string
  readonly account: string
  readonly startedAt: number
  /** The coordinator process that runs it. */
  readonly owner: string
  readonly epoch: number
  /** Its second phase is this rollout; null: all switch at once. */
  readonly rolloutId: number | null
}

/** Whose places it changes. */
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

/** What a write of a deploy is conditional on: nobody took it over. */
export type DeployHold = Pick<DeployRecord, 'id' | 'epoch'>

/** Call under the decision lock to write by the answer. */
export async function holdsDeploy(queries: Queries, hold: DeployHold): Promise<boolean> {
  return (await selectHeld(queries, hold).executeTakeFirst()) !== undefined
}

/** One row while nobody took it over or ended it. */
export function selectHeld(queries: Queries, { id, epoch }: DeployHold) {
  return queries
    .selectFrom('deploys')
    .select('deploys.id')
    .where('deploys.id', '=', id)
    .where('deploys.epoch', '=', epoch)
}

/** Answers false when another process has it, or it is gone. */
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

/** Takes over deploys whose lease is over at `now`; each is answered to one caller only. */
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

/** Answers false when it was gone already, or another process took it over: somebody else decides. */
export async function deleteDeploy(queries: Queries, { id, epoch }: DeployHold): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('deploys')
    .where('id', '=', id)
    .where('epoch', '=', epoch)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
