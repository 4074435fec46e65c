/** Columns that change with heartbeats and reports, written for many agents in one statement. */
import { sql } from 'kysely'
import { agentStates } from '../../resources/agent-state.js'
import { logOfAgent, type ConditionColumns } from './agent-rows.js'
import { toAttempt, type AttemptRecord, type DriftRecord } from './agent-queries.js'
import { listIds, prepareGiven, writeIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'

export interface HeartbeatRow extends ConditionColumns {
  readonly id: number
  /** When it arrived. */
  readonly at: number
}

/** The state of an agent after its heartbeat was written. */
export interface RecordedHeartbeat {
  readonly id: number
  readonly keyDigest: string
  readonly desiredRevision: number
  readonly recordedRevision: number | null
  /** 1: drained. */
  readonly isDraining: 0 | 1
  /** The time of the heartbeat if it changed the state. */
  readonly lastStateChangeAt: number
}

/** Deleted agents are omitted from the result. */
export function writeConditions(
  queries: Queries,
  heartbeats: readonly HeartbeatRow[],
): Promise<RecordedHeartbeat[]> {
  return updateConditions(queries, heartbeats)
}

/**
 * For agents with nothing new but the time, which has a table of its own: its rows are a fortieth of an agent's, so the heartbeats
 * of a second change a few pages instead of one each. An agent's row is written if a peer has marked it Down meanwhile. Deleted
 * agents are omitted from the result.
 */
export async function writeHeartbeats(
  queries: Queries,
  heartbeats: readonly HeartbeatRow[],
): Promise<RecordedHeartbeat[]> {
  await upsertTimes(queries, heartbeats)
  const agents = await selectRecorded(queries, heartbeats)
  const states = new Map(agents.map(({ id, state }) => [id, state]))
  const changed = heartbeats.filter(({ id, state }) => (states.get(id) ?? state) !== state)
  if (changed.length === 0) return agents
  const ids = new Set(changed.map(({ id }) => id))
  const same = agents.filter(({ id }) => !ids.has(id))
  return [...same, ...(await writeConditions(queries, changed))]
}

const recordedColumns = sql`agents.id, agents."keyDigest", agents."desiredRevision",
  agents."recordedRevision", agents."lastStateChangeAt",
  case when agents."draining" is null then 0 else 1 end as "isDraining"`

const updateConditions = prepareGiven(
  {
    id: 'bigint',
    at: 'bigint',
    state: 'bigint',
    engineState: 'text',
    engineError: 'text',
    effectiveRevision: 'bigint',
    lockedBecause: 'text',
    cachePid: 'bigint',
  },
  (given) => sql<RecordedHeartbeat>`
    update agents set "lastHeartbeatAt" = ${given.at}, state = ${given.state},
      "lastStateChangeAt" = case when agents.state = ${given.state} then agents."lastStateChangeAt" else ${given.at} end,
      "engineState" = ${given.engineState}, "engineError" = ${given.engineError},
      "effectiveRevision" = ${given.effectiveRevision}, "lockedBecause" = ${given.lockedBecause},
      "cacheRestarted" = case when agents."cachePid" <> ${given.cachePid} then 1 else agents."cacheRestarted" end,
      "cachePid" = coalesce(${given.cachePid}, agents."cachePid"),
      "awaitsPlacement" = case when agents."lockedBecause" is not null and ${given.lockedBecause} is null
        then 1 else agents."awaitsPlacement" end
    ${given.from} where agents.id = ${given.id} returning ${recordedColumns}`,
)

const upsertTimes = prepareGiven(
  { id: 'bigint', at: 'bigint' },
  // SQLite needs the `where` to tell the conflict clause from a join condition.
  (given) => sql`
    insert into heartbeats ("agentId", at)
    select agents.id, ${given.at} ${given.from} join agents on agents.id = ${given.id} where true
    on conflict ("agentId") do update set at = excluded.at`,
)

const selectRecorded = prepareGiven(
  { id: 'bigint' },
  (given) => sql<RecordedHeartbeat & { readonly state: number }>`
    select agents.state, ${recordedColumns} ${given.from} join agents on agents.id = ${given.id}`,
)

/** Call when what failed there is being retried. */
export async function forgetRestarts(queries: Queries, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await queries
    .updateTable('agents')
    .set({ cacheRestarted: 0 })
    .where('id', 'in', listIds(ids))
    .execute()
}

/** Ends the wait of agents that placement has considered, and returns them. Agents that are Locked or Down keep waiting. */
export async function endPlacementWaits(
  queries: Queries,
  but: ReadonlySet<number>,
): Promise<number[]> {
  const waiting = await queries
    .selectFrom('agents')
    .select('id')
    // A literal, as in the index condition: a parameter could have any value.
    .where('awaitsPlacement', '=', sql.lit(1))
    .where('state', 'not in', [agentStates.Locked, agentStates.Down])
    .execute()
  const ids = waiting.map(({ id }) => id).filter((id) => !but.has(id))
  await inPieces(ids, (piece) =>
    queries.updateTable('agents').set({ awaitsPlacement: 0 }).where('id', 'in', piece).execute(),
  )
  return ids
}

export interface AttemptRow {
  readonly id: number
  readonly name: string
  readonly desiredRevision: number
  readonly attempted: AttemptRecord | null
  readonly effectiveRevision: number | null
  readonly recordedRevision: number | null
}

/** Deleted agents are omitted. Call under the decision lock if the result is written back. */
export async function readAttempts(
  queries: Queries,
  ids: readonly number[],
): Promise<AttemptRow[]> {
  const rows = await selectAttempts(queries, [writeIds(ids)])
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    desiredRevision: row.desiredRevision,
    effectiveRevision: row.effectiveRevision,
    recordedRevision: row.recordedRevision,
    attempted: toAttempt(row),
  }))
}

const selectAttempts = prepareQuery((queries) =>
  queries
    .selectFrom('agents')
    .select(['id', 'name', 'desiredRevision', 'effectiveRevision', 'recordedRevision'])
    .select(['attemptedRevision', 'attemptedResult', 'attemptedError', 'attemptedAt'])
    .where('id', 'in', listIds([])),
)

export async function writeAttempts(
  queries: Queries,
  agents: readonly Omit<AttemptRow, 'name' | 'desiredRevision'>[],
): Promise<void> {
  await updateAttempts(
    queries,
    agents.map(({ id, attempted, effectiveRevision, recordedRevision }) => {
      const { revision = null, result = null, error = null, at = null } = attempted ?? {}
      return { id, revision, result, error, at, effectiveRevision, recordedRevision }
    }),
  )
}

const updateAttempts = prepareGiven(
  {
    id: 'bigint',
    revision: 'bigint',
    result: 'text',
    error: 'text',
    at: 'bigint',
    effectiveRevision: 'bigint',
    recordedRevision: 'bigint',
  },
  (given) => sql`
    update agents set "attemptedRevision" = ${given.revision}, "attemptedResult" = ${given.result},
      "attemptedError" = ${given.error}, "attemptedAt" = ${given.at},
      "effectiveRevision" = ${given.effectiveRevision}, "recordedRevision" = ${given.recordedRevision}
    ${given.from} where agents.id = ${given.id}`,
)

/** Stores the last drift with the agent; every drift gets an API log entry of severity 2 (docs/behaviour.md, Drift). */
export async function writeDrift(
  queries: Queries,
  id: number,
  drift: DriftRecord,
  found: { readonly traceId: string; readonly at: number },
): Promise<void> {
  const agent = await queries
    .updateTable('agents')
    .set({ drift: JSON.stringify(drift) })
    .where('id', '=', id)
    .returning(['name', 'organizationId'])
    .executeTakeFirst()
  if (!agent) return
  const names = drift.foreign.slice(0, namesShown).join(', ')
  const msg = `agent ${agent.name} found ${names || 'a change by others'}: ${drift.action}`
  await logOfAgent(queries, { ...agent, id }, { ...found, severity: 2, msg })
}

/** Unmanaged VCLs named in one log entry. */
const namesShown = 10
