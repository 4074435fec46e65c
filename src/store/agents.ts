/** Agents: how they are listed and found, and what registration writes. Their moving parts: agent-conditions.ts. */
import type { Selectable } from 'kysely'
import { agentStates, type AgentState, type EngineState } from '../domain/agent-state.js'
import type { Capability } from '../domain/capability.js'
import { readTagsOfAgents, type AgentTag } from './agent-tags.js'
import { toOwner, type NamedReference } from './owner.js'
import type { AgentsTable } from './schema.js'
import { visibleAgents, type Scope } from './scope.js'
import type { Queries } from './store.js'

export interface AgentRecord {
  readonly id: number
  /** Null: shared by all organizations. */
  readonly organization: NamedReference | null
  readonly name: string
  readonly state: AgentState
  readonly engineState: EngineState
  readonly engineError: string | null
  readonly engineHost: string
  readonly enginePort: number
  readonly engineVersion: string
  readonly engineWorkingDirectory: string | null
  readonly agentVersion: string
  readonly capabilities: readonly Capability[]
  readonly lockedBecause: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastHeartbeatAt: number
  readonly lastStateChangeAt: number
  readonly desiredRevision: number
  /** Null: nothing was tried yet. */
  readonly attempted: AttemptRecord | null
  readonly effectiveRevision: number | null
  readonly drift: DriftRecord | null
  /** By id. */
  readonly tags: readonly AgentTag[]
}

export interface AttemptRecord {
  readonly revision: number
  readonly result: AttemptResult
  readonly error: string | null
  readonly at: number
}

export type AttemptResult = 'applied' | 'failed' | 'refused'

/** As the agent reported it (choices: 3, Drift). */
export interface DriftRecord {
  readonly at: string
  readonly foreign: readonly string[]
  readonly action: string
  readonly healedAt: string | null
}

/** Agents that the scope may see, with everything but the content of the desired state, which may be long. */
export function selectAgents(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('agents')
    .leftJoin('organizations', 'organizations.id', 'agents.organizationId')
    .select([
      'agents.id',
      'agents.organizationId',
      'agents.name',
      'agents.state',
      'agents.engineState',
      'agents.engineError',
      'agents.engineHost',
      'agents.enginePort',
      'agents.engineVersion',
      'agents.engineWorkingDirectory',
      'agents.agentVersion',
      'agents.capabilities',
      'agents.lockedBecause',
      'agents.createdAt',
      'agents.updatedAt',
      'agents.lastHeartbeatAt',
      'agents.lastStateChangeAt',
      'agents.desiredRevision',
      'agents.attemptedRevision',
      'agents.attemptedResult',
      'agents.attemptedError',
      'agents.attemptedAt',
      'agents.effectiveRevision',
      'agents.drift',
    ])
    .select('organizations.name as organizationName')
    .where(visibleAgents(scope))
}

export type AgentRow = Awaited<
  ReturnType<ReturnType<typeof selectAgents>['executeTakeFirstOrThrow']>
>

/** Two queries for one agent. */
export async function findAgent(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<AgentRecord | undefined> {
  const row = await selectAgents(queries, scope).where('agents.id', '=', id).executeTakeFirst()
  return row && (await toAgentRecords(queries, [row]))[0]
}

/** Gives the rows their tags with one query more; the order stays. */
export async function toAgentRecords(
  queries: Queries,
  rows: readonly AgentRow[],
): Promise<AgentRecord[]> {
  const tags = await readTagsOfAgents(
    queries,
    rows.map((row) => row.id),
  )
  return rows.map((row) => fromRow(row, tags.get(row.id) ?? []))
}

export interface AgentIdentity {
  readonly id: number
  readonly organizationId: number | null
  readonly name: string
  readonly state: number
}

/** Whose key this is. The digest is looked up whole: no comparison that a clock could watch. */
export async function findAgentByKey(
  queries: Queries,
  keyDigest: string,
): Promise<AgentIdentity | undefined> {
  return await selectIdentity(queries).where('keyDigest', '=', keyDigest).executeTakeFirst()
}

/** Names of agents are unique over all organizations (choices: 1, `--name`). */
export async function findAgentByName(
  queries: Queries,
  name: string,
): Promise<AgentIdentity | undefined> {
  return await selectIdentity(queries).where('name', '=', name).executeTakeFirst()
}

function selectIdentity(queries: Queries) {
  return queries.selectFrom('agents').select(['id', 'organizationId', 'name', 'state'])
}

/** What a hello says of an agent, as the row keeps it. */
export type DescribedColumns = Pick<
  Selectable<AgentsTable>,
  | 'name'
  | 'agentVersion'
  | 'capabilities'
  | 'engineHost'
  | 'enginePort'
  | 'engineVersion'
  | 'engineWorkingDirectory'
>

export interface RegisteredRow extends DescribedColumns {
  readonly id: number
  readonly organizationId: number | null
  readonly keyDigest: string
  readonly desiredRevision: number
}

export async function findRegistered(
  queries: Queries,
  id: number,
): Promise<RegisteredRow | undefined> {
  return await queries
    .selectFrom('agents')
    .select([
      'id',
      'organizationId',
      'keyDigest',
      'name',
      'agentVersion',
      'capabilities',
      'engineHost',
      'enginePort',
      'engineVersion',
      'engineWorkingDirectory',
      'desiredRevision',
    ])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** What the row says of a moment: written at registration, then by agent-conditions.ts. */
export type ConditionColumns = Pick<
  Selectable<AgentsTable>,
  'state' | 'engineState' | 'engineError' | 'effectiveRevision' | 'lockedBecause'
>

export interface NewAgent extends DescribedColumns, ConditionColumns {
  readonly organizationId: number | null
  readonly keyDigest: string
  readonly desiredRevision: number
  /** JSON of DesiredEngine. */
  readonly desired: string
}

export async function insertAgent(queries: Queries, agent: NewAgent, now: number): Promise<number> {
  const { id } = await queries
    .insertInto('agents')
    .values({
      ...agent,
      createdAt: now,
      updatedAt: now,
      lastHeartbeatAt: now,
      lastStateChangeAt: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/**
 * A reinstalled host takes its name over: another key, nothing known of its cache, the same id and desired state.
 * Answers false when the agent was no longer Down.
 */
export async function replaceAgent(
  queries: Queries,
  id: number,
  agent: DescribedColumns & ConditionColumns & { readonly keyDigest: string },
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('agents')
    .set({
      ...agent,
      updatedAt: now,
      lastHeartbeatAt: now,
      lastStateChangeAt: now,
      attemptedRevision: null,
      attemptedResult: null,
      attemptedError: null,
      attemptedAt: null,
    })
    .where('id', '=', id)
    .where('state', '=', agentStates.Down)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function describeAgent(
  queries: Queries,
  id: number,
  description: DescribedColumns,
  now: number,
): Promise<void> {
  await queries
    .updateTable('agents')
    .set({ ...description, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

/** Its placements and tags go with it. */
export async function deleteAgentRow(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('agentTags').where('agentId', '=', id).execute()
  await queries.deleteFrom('placements').where('agentId', '=', id).execute()
  await queries.deleteFrom('agents').where('id', '=', id).execute()
}

export interface DesiredRow {
  readonly id: number
  readonly desiredRevision: number
  /** JSON of DesiredEngine. */
  readonly desired: string
  readonly attemptedRevision: number | null
  readonly attemptedResult: string | null
}

/** Ids a statement: far below what either database takes as parameters. */
const idsPerStatement = 1000

export async function readDesiredRows(
  queries: Queries,
  ids: readonly number[],
): Promise<DesiredRow[]> {
  const rows: DesiredRow[] = []
  for (let start = 0; start < ids.length; start += idsPerStatement)
    rows.push(
      ...(await queries
        .selectFrom('agents')
        .select(['id', 'desiredRevision', 'desired', 'attemptedRevision', 'attemptedResult'])
        .where('id', 'in', ids.slice(start, start + idsPerStatement))
        .execute()),
    )
  return rows
}

function fromRow(row: AgentRow, tags: readonly AgentTag[]): AgentRecord {
  return {
    id: row.id,
    organization: toOwner(row),
    name: row.name,
    state: row.state as AgentState, // written from stateOfLiveAgent and markSilentDown only
    engineState: row.engineState as EngineState, // checked by the codec before it is written
    engineError: row.engineError,
    engineHost: row.engineHost,
    enginePort: row.enginePort,
    engineVersion: row.engineVersion,
    engineWorkingDirectory: row.engineWorkingDirectory,
    agentVersion: row.agentVersion,
    capabilities: JSON.parse(row.capabilities) as Capability[], // registration keeps known ones only
    lockedBecause: row.lockedBecause,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastHeartbeatAt: row.lastHeartbeatAt,
    lastStateChangeAt: row.lastStateChangeAt,
    desiredRevision: row.desiredRevision,
    attempted: toAttempt(row),
    effectiveRevision: row.effectiveRevision,
    // Checked by the codec before it is written.
    drift: row.drift === null ? null : (JSON.parse(row.drift) as DriftRecord),
    tags,
  }
}

function toAttempt(row: AgentRow): AttemptRecord | null {
  if (row.attemptedRevision === null || row.attemptedAt === null) return null
  return {
    revision: row.attemptedRevision,
    result: (row.attemptedResult ?? 'failed') as AttemptResult, // written with the revision, from ApplyReport
    error: row.attemptedError,
    at: row.attemptedAt,
  }
}
