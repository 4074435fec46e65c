/** The events of a time range, by kind of object, the newest first (docs/behaviour.md, Marks). */
import { agentStates } from '../../resources/agent-state.js'
import type { Mark, MarkKind } from '../../resources/mark.js'
import type { TargetRecord } from '../invalidations/invalidation-queries.js'
import { visibleAgents, within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

/** Milliseconds since 1970, both inclusive; `groupId`, `agentId` null: everything in the scope. */
interface MarkRange {
  readonly startMs: number
  readonly endMs: number
  readonly groupId: number | null
  readonly agentId: number | null
  readonly limit: number
}

/** Actions that do not change the serving VCL. */
const unmarked = ['stage', 'delstage']

export async function readDeployMarks(
  queries: Queries,
  scope: Scope,
  { startMs, endMs, groupId, agentId, limit }: MarkRange,
): Promise<Mark[]> {
  let entries = queries
    .selectFrom('history')
    .innerJoin('vclGroups', 'vclGroups.id', 'history.groupId')
    .select(['history.at', 'history.action', 'history.result', 'history.revision'])
    .select(['history.account', 'vclGroups.id', 'vclGroups.name'])
    .where(within(scope, 'history'))
    .where('history.at', '>=', startMs)
    .where('history.at', '<=', endMs)
    .where('history.action', 'not in', unmarked)
    .orderBy('history.at', 'desc')
    .limit(limit)
  if (groupId !== null) entries = entries.where('history.groupId', '=', groupId)
  if (agentId !== null)
    entries = entries.where('history.groupId', 'in', (e) =>
      e.selectFrom('placements').select('groupId').where('agentId', '=', agentId),
    )
  return (await entries.execute()).map((row) => ({
    at: toIso(row.at),
    kind: row.action as MarkKind, // only written by addHistory
    failed: row.result !== 'ok',
    account: row.account,
    revision: row.revision,
    object: { type: 'vclgroup', id: row.id, name: row.name },
  }))
}

/** Omits invalidations that target another group or other caches than requested. */
export async function readInvalidationMarks(
  queries: Queries,
  scope: Scope,
  { startMs, endMs, groupId, agentId, limit }: MarkRange,
): Promise<Mark[]> {
  const rows = await queries
    .selectFrom('invalidations')
    .select(['id', 'createdAt', 'type', 'target', 'account', 'failed'])
    .where(within(scope, 'invalidations'))
    .where('createdAt', '>=', startMs)
    .where('createdAt', '<=', endMs)
    .orderBy('createdAt', 'desc')
    .limit(limit)
    .execute()
  return rows.flatMap((row) => {
    const { vclGroup, agents } = JSON.parse(row.target) as TargetRecord // only written by its use case
    const isOther =
      (groupId !== null && vclGroup !== undefined && vclGroup.id !== groupId) ||
      (agentId !== null && agents !== undefined && agents.every(({ id }) => id !== agentId))
    if (isOther) return []
    return {
      at: toIso(row.createdAt),
      kind: row.type as MarkKind, // 'ban' or 'purge'
      failed: row.failed === 1,
      account: row.account,
      revision: null,
      object: { type: 'invalidation', id: row.id, name: `${row.type} ${row.id}` },
    }
  })
}

/** Only caches that are still down or failing: caches that have recovered are not recorded in any table. */
export async function readOutageMarks(
  queries: Queries,
  scope: Scope,
  { startMs, endMs, groupId, agentId, limit }: MarkRange,
): Promise<Mark[]> {
  let agents = queries
    .selectFrom('agents')
    .select(['id', 'name', 'state', 'lastStateChangeAt'])
    .where(visibleAgents(scope))
    .where('state', 'in', [agentStates.Down, agentStates.Failing])
    .where('lastStateChangeAt', '>=', startMs)
    .where('lastStateChangeAt', '<=', endMs)
    .orderBy('lastStateChangeAt', 'desc')
    .limit(limit)
  if (agentId !== null) agents = agents.where('id', '=', agentId)
  if (groupId !== null)
    agents = agents.where('id', 'in', (e) =>
      e.selectFrom('placements').select('agentId').where('groupId', '=', groupId),
    )
  return (await agents.execute()).map(({ id, name, state, lastStateChangeAt }) => ({
    at: toIso(lastStateChangeAt),
    kind: state === agentStates.Down ? 'agent-down' : 'cache-failing',
    failed: false,
    account: null,
    revision: null,
    object: { type: 'agent', id, name },
  }))
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
