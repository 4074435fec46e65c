/** Lists and reads agents. Registration: agent-rows.ts; heartbeats and reports: condition-queries.ts. */
import type { Selectable } from 'kysely'
import { agent } from '../../resources/agent.js'
import type { EngineState } from '../../resources/agent-state.js'
import type { Capability } from '../../resources/capability.js'
import type { HeldCache } from '../../vcl/held-cache.js'
import { readTagsOfAgent, readTagsOfAgents, type AgentTag } from './agent-tags.js'
import { lastHeartbeat } from './silence-queries.js'
import { listIds, writeIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import type { NamedReference } from '../store/owner.js'
import { prepareQuery } from '../store/prepared-query.js'
import { rowReader, storedColumns, type StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { visibleAgents, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface AgentRecord extends StoredRecord<typeof agent.fields> {
  readonly engineState: EngineState
  readonly engineWorkingDirectory: string | null
  /** Empty if unknown. */
  readonly engineRevision: string
  /** Of its machine; empty if unknown. */
  readonly hostName: string
  readonly capabilities: readonly Capability[]
  /** Null: the agent can read the log, or reported no reason. */
  readonly logTrouble: string | null
  readonly desiredRevision: number
  /** Null: no revision was attempted yet. */
  readonly attempted: AttemptRecord | null
  readonly effectiveRevision: number | null
  readonly drift: DriftRecord | null
  /** Null: the agent never requested it. */
  readonly adoption: AdoptionRecord | null
  /** Null: not drained. */
  readonly draining: DrainRecord | null
  /** Its name in the console; null: the generated one. */
  readonly consoleName: string | null
  /** Set in the console. */
  readonly description: string
  /** Sorted by id. */
  readonly tags: readonly AgentTag[]
}

export interface AttemptRecord {
  readonly revision: number
  readonly result: AttemptResult
  readonly error: string | null
  readonly at: number
}

type AttemptResult = 'applied' | 'failed' | 'refused'

/** As the agent reported it (docs/behaviour.md, Drift). */
export interface DriftRecord {
  readonly at: string
  readonly foreign: readonly string[]
  readonly action: string
  readonly healedAt: string | null
}

/** The account that drains the agent, and why (docs/behaviour.md, Drain). Milliseconds since 1970. */
export interface DrainRecord {
  readonly since: number
  /** Null: until a user ends it. */
  readonly until: number | null
  readonly reason: string
  readonly account: string
}

/** The outcome for the VCL that the cache ran when its agent first connected (docs/behaviour.md, Takeover). */
export interface AdoptionRecord {
  /** ISO 8601. */
  readonly at: string
  /** `refused`: it keeps serving until the first deploy. */
  readonly result: 'adopted' | 'refused'
  /** Why it was refused or did not join the group of `--adopt-group`. */
  readonly error: string | null
  /** The static tag that the adopted group's deployment requires; null once no deployment requires it. */
  readonly tag: string | null
  /** The group created or joined, with its name at that time. Null: refused, or adopted by an earlier version. */
  readonly group: NamedReference | null
}

const columnsOfRow = storedColumns(agent.fields, 'agents').filter(
  (column) => column !== 'agents.lastHeartbeatAt',
)

/** Agents visible in the scope, with everything except the content of the desired state, which may be long. */
export function selectAgents(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('agents')
    .leftJoin('organizations', 'organizations.id', 'agents.organizationId')
    .select(columnsOfRow)
    .select(lastHeartbeat().as('lastHeartbeatAt'))
    .select([
      'agents.organizationId',
      'agents.engineState',
      'agents.engineWorkingDirectory',
      'agents.engineRevision',
      'agents.hostName',
      'agents.capabilities',
      'agents.logTrouble',
      'agents.desiredRevision',
      'agents.attemptedRevision',
      'agents.attemptedResult',
      'agents.attemptedError',
      'agents.attemptedAt',
      'agents.effectiveRevision',
      'agents.drift',
      'agents.adoption',
      'agents.draining',
      'agents.consoleName',
      'agents.description',
    ])
    .select('organizations.name as organizationName')
    .where(visibleAgents(scope))
}

type AttemptColumns = Pick<
  Selectable<Tables['agents']>,
  'attemptedRevision' | 'attemptedResult' | 'attemptedError' | 'attemptedAt'
>

type AgentRow = Awaited<ReturnType<ReturnType<typeof selectAgents>['executeTakeFirstOrThrow']>>

const anyId = 0
const findAnywhere = prepareQuery((queries) =>
  selectAgents(queries, { kind: 'all' }).where('agents.id', '=', anyId),
)
const findVisible = prepareQuery((queries) =>
  selectAgents(queries, { kind: 'organization', organizationId: anyId }).where(
    'agents.id',
    '=',
    anyId,
  ),
)

/** Two queries for one agent. */
export async function findAgent(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<AgentRecord | undefined> {
  const [row] =
    scope.kind === 'all'
      ? await findAnywhere(queries, [id])
      : await findVisible(queries, [scope.organizationId, id])
  return row && fromRow(row, await readTagsOfAgent(queries, id))
}

/** Sorted. */
export async function readAgentIds(queries: Queries, scope: Scope): Promise<number[]> {
  return (await readAgentOwners(queries, scope)).map(({ id }) => id)
}

export interface AgentOwner {
  readonly id: number
  /** Null: shared by all organizations. */
  readonly organizationId: number | null
}

/** Sorted by id; with `tagIds` only agents that have all of these tags. */
export function readAgentOwners(
  queries: Queries,
  scope: Scope,
  tagIds: readonly number[] = [],
): Promise<AgentOwner[]> {
  let agents = selectAgents(queries, scope)
    .clearSelect()
    .select(['agents.id', 'agents.organizationId'])
    .orderBy('agents.id')
  for (const tagId of tagIds)
    agents = agents.where('agents.id', 'in', (e) =>
      e.selectFrom('agentTags').select('agentId').where('tagId', '=', tagId),
    )
  return agents.execute()
}

/** Adds the rows' tags with one more query; keeps the order. */
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

/** Reads the agents with these ids that the scope may see, in pieces. */
export async function readAgents(
  queries: Queries,
  scope: Scope,
  ids: readonly number[],
): Promise<AgentRecord[]> {
  return inPieces(ids, async (piece) => {
    const rows =
      scope.kind === 'all'
        ? await selectSome(queries, [writeIds(piece)])
        : await selectOrdered(queries, scope, piece).execute()
    return toAgentRecords(queries, rows)
  })
}

/** Runs for every batch of events. */
const selectSome = prepareQuery((queries) => selectOrdered(queries, { kind: 'all' }, []))

function selectOrdered(queries: Queries, scope: Scope, ids: readonly number[]) {
  return selectAgents(queries, scope).where('agents.id', 'in', listIds(ids)).orderBy('agents.id')
}

const readStored = rowReader(agent.fields)

function fromRow(row: AgentRow, tags: readonly AgentTag[]): AgentRecord {
  return {
    engineState: row.engineState as EngineState, // checked by the codec before it is written
    engineWorkingDirectory: row.engineWorkingDirectory,
    engineRevision: row.engineRevision,
    hostName: row.hostName,
    capabilities: JSON.parse(row.capabilities) as Capability[], // registration keeps known ones only
    logTrouble: row.logTrouble,
    desiredRevision: row.desiredRevision,
    attempted: toAttempt(row),
    effectiveRevision: row.effectiveRevision,
    // Checked by the codec before it is written.
    drift: row.drift === null ? null : (JSON.parse(row.drift) as DriftRecord),
    adoption: parseAdoption(row.adoption),
    draining: parseDrain(row.draining),
    consoleName: row.consoleName,
    description: row.description,
    tags,
    // Last: adding keys after a spread takes ten times as long as all the rest.
    ...readStored(row),
  }
}

/** Reads the column, which only drain-queries.ts writes. */
export function parseDrain(json: string | null): DrainRecord | null {
  return json === null ? null : (JSON.parse(json) as DrainRecord)
}

/** Reads the column, which only adoption-queries.ts writes. */
export function parseAdoption(json: string | null): AdoptionRecord | null {
  if (json === null) return null
  const adoption = JSON.parse(json) as Omit<AdoptionRecord, 'group'> & Partial<AdoptionRecord>
  return { ...adoption, group: adoption.group ?? null }
}

/** Fields that the view of one agent has in addition to the list's. */
export interface AgentDetail {
  /** Unified diff of the adopted VCL against the group that it was to join. */
  readonly adoptionDifference: string | null
  /** Content of its cache while it is locked. */
  readonly held: HeldCache | null
}

export async function readAgentDetail(queries: Queries, id: number): Promise<AgentDetail> {
  const row = await queries
    .selectFrom('agents')
    .select(['adoptionDifference', 'held'])
    .where('id', '=', id)
    .executeTakeFirst()
  const { adoptionDifference = null, held = null } = row ?? {}
  // Checked by the codec before it is written.
  return { adoptionDifference, held: held === null ? null : (JSON.parse(held) as HeldCache) }
}

export function toAttempt(row: AttemptColumns): AttemptRecord | null {
  if (row.attemptedRevision === null || row.attemptedAt === null) return null
  return {
    revision: row.attemptedRevision,
    result: (row.attemptedResult ?? 'failed') as AttemptResult, // written with the revision, from ApplyReport
    error: row.attemptedError,
    at: row.attemptedAt,
  }
}
