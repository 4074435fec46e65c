/** The agents' rows as the link writes and reads them: identity, hello, and the desired state to send. */
import { sql, type Selectable } from 'kysely'
import { agentStates } from '../../resources/agent-state.js'
import { gatherReads } from '../store/gathered-reads.js'
import { listIds, listTexts, prepareGiven, writeIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import { prepareQuery } from '../store/prepared-query.js'
import { holdQuota } from '../store/quotas.js'
import type { Tables } from '../store/schema.js'
import { agentTables } from '../store/tables/fleet.js'
import type { Queries } from '../store/store.js'
import { deleteRow } from '../store/write-rows.js'

interface AgentIdentity {
  readonly id: number
  readonly organizationId: number | null
  readonly name: string
  readonly state: number
  /** The valid link at the time of the read. */
  readonly linkId: string | null
}

const readByKey = gatherReads(
  (queries) => selectIdentity(queries).select('keyDigest').where('keyDigest', 'in', listTexts([])),
  ({ keyDigest }) => keyDigest,
)
const readByName = gatherReads(
  (queries) => selectIdentity(queries).where('name', 'in', listTexts([])),
  ({ name }) => name,
)

/** Finds the agent with this key. The whole digest is looked up, so there is no comparison to time. */
export async function findAgentByKey(
  queries: Queries,
  keyDigest: string,
): Promise<AgentIdentity | undefined> {
  return (await readByKey(queries, keyDigest))[0]
}

/** Agent names are unique across all organizations (docs/behaviour.md, Names). */
export async function findAgentByName(
  queries: Queries,
  name: string,
): Promise<AgentIdentity | undefined> {
  return (await readByName(queries, name))[0]
}

/** Owners by agent id; null: shared. Deleted agents are omitted. */
export async function readAgentOwners(
  queries: Queries,
  agentIds: readonly number[],
): Promise<ReadonlyMap<number, number | null>> {
  if (agentIds.length === 0) return new Map()
  const rows = await selectIdentity(queries)
    .where('id', 'in', [...agentIds])
    .execute()
  return new Map(rows.map(({ id, organizationId }) => [id, organizationId]))
}

function selectIdentity(queries: Queries) {
  return queries.selectFrom('agents').select(['id', 'organizationId', 'name', 'state', 'linkId'])
}

type AgentRow = Selectable<Tables['agents']>

/** Columns that store the content of a hello. */
export const describedColumns = [
  ...(['name', 'agentVersion', 'capabilities', 'engineHost', 'enginePort'] as const),
  ...([
    'engineProduct',
    'engineVersion',
    'engineWorkingDirectory',
    'engineRevision',
    'hostName',
    'held',
    'logTrouble',
  ] as const),
] as const
export type DescribedColumns = Pick<AgentRow, (typeof describedColumns)[number]>

const registeredColumns = [
  ...describedColumns,
  ...(['id', 'organizationId', 'keyDigest', 'desiredRevision'] as const),
  ...(['adopting', 'adoption', 'state', 'draining', 'toldName'] as const),
] as const
export type RegisteredRow = Readonly<Pick<AgentRow, (typeof registeredColumns)[number]>>

const readRegistered = gatherReads(
  (queries) =>
    queries.selectFrom('agents').select(registeredColumns).where('id', 'in', listIds([])),
  ({ id }) => id,
)

export async function findRegistered(
  queries: Queries,
  id: number,
): Promise<RegisteredRow | undefined> {
  return (await readRegistered(queries, id))[0]
}

/** Columns of the current condition: written at registration, then by condition-queries.ts. */
const conditionColumns = [
  ...(['state', 'engineState', 'engineError', 'effectiveRevision'] as const),
  ...(['lockedBecause', 'cachePid'] as const),
] as const
export type ConditionColumns = Pick<AgentRow, (typeof conditionColumns)[number]>

export interface NewAgent extends DescribedColumns, ConditionColumns {
  readonly organizationId: number | null
  readonly keyDigest: string
  readonly desiredRevision: number
  /** JSON of DesiredEngine. */
  readonly desired: string
  /** Its cache's VCL is to be adopted first. */
  readonly adopting: 0 | 1
}

const insertedColumns = [
  ...describedColumns,
  ...conditionColumns,
  ...(['organizationId', 'keyDigest', 'desiredRevision', 'desired', 'adopting'] as const),
  ...(['awaitsPlacement', 'lastHeartbeatAt', 'lastStateChangeAt'] as const),
  ...(['createdAt', 'updatedAt'] as const),
] as const

const insertGiven = prepareGiven(
  Object.fromEntries(
    insertedColumns.map((name) => [name, agentTables.agents.columns[name].given] as const),
  ),
  ({ from, ...values }) => sql<{ readonly id: number; readonly name: string }>`
    insert into agents (${sql.join(insertedColumns.map((name) => sql.ref(name)))})
    select ${sql.join(insertedColumns.map((name) => values[name]))} ${from}
    returning id, name`,
)

/** Inserts in one statement; returns the ids by name. Throws 'conflict' if an organization would exceed its quota. */
export async function insertAgents(
  queries: Queries,
  agents: readonly NewAgent[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const begun = { awaitsPlacement: 1, lastHeartbeatAt: now, lastStateChangeAt: now } as const
  const times = { createdAt: now, updatedAt: now }
  const made = await insertGiven(
    queries,
    agents.map((agent) => ({ ...agent, ...begun, ...times })),
  )
  const owners = new Set(agents.map(({ organizationId }) => organizationId ?? 0))
  // In a fixed order, because each call locks the organization's row.
  for (const owner of [...owners].toSorted((a, b) => a - b))
    await holdQuota(queries, owner === 0 ? null : owner, 'agents')
  return new Map(made.map(({ id, name }) => [name, id]))
}

/**
 * A reinstalled host takes over its name: new key, nothing known about its cache, same id and desired state.
 * Returns false if the agent was no longer Down.
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
      recordedRevision: null,
      adopting: 0,
      awaitsPlacement: 1,
    })
    .where('id', '=', id)
    .where('state', '=', agentStates.Down)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Stores the agent's own name, and makes the desired revision newer than the one that the agent holds. */
export async function takeReportedName(
  queries: Queries,
  id: number,
  { toldName, heldRevision }: { readonly toldName: string; readonly heldRevision: number },
): Promise<void> {
  await queries
    .updateTable('agents')
    .set(({ eb }) => ({
      toldName,
      desiredRevision: eb(
        eb
          .case()
          .when('desiredRevision', '<', heldRevision)
          .then(heldRevision)
          .else(eb.ref('desiredRevision'))
          .end(),
        '+',
        1,
      ),
    }))
    .where('id', '=', id)
    .execute()
}

/** Across all organizations. */
export async function readAllAgentIds(queries: Queries): Promise<number[]> {
  const rows = await queries.selectFrom('agents').select('id').execute()
  return rows.map(({ id }) => id)
}

/** Logs an event of an agent that no API request caused. */
export async function logOfAgent(
  queries: Queries,
  agent: { readonly id: number; readonly organizationId: number | null },
  entry: {
    readonly severity: number
    readonly msg: string
    readonly traceId: string
    readonly at: number
  },
): Promise<void> {
  const { severity, msg, traceId, at } = entry
  await queries
    .insertInto('apiLogs')
    .values({
      organizationId: agent.organizationId,
      createdAt: at,
      severity,
      msg,
      keyType: 'agent',
      keyId: agent.id,
      traceId,
      account: '',
      method: '',
      path: '',
      status: 0,
    })
    .execute()
}

/** Also deletes its placements and tags. */
export async function deleteAgentRow(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('agentTags').where('agentId', '=', id).execute()
  await queries.deleteFrom('placements').where('agentId', '=', id).execute()
  await deleteRow(queries, 'agents', id)
}

/** Columns of an agent's cache that users edit in the console. */
export type ConsoleColumns = Partial<Pick<AgentRow, 'consoleName' | 'description'>>

interface DesiredRow {
  readonly id: number
  readonly desiredRevision: number
  /** JSON of DesiredEngine. */
  readonly desired: string
  readonly recordedRevision: number | null
  readonly state: number
  readonly awaitsPlacement: 0 | 1
}

export async function readDesiredRows(
  queries: Queries,
  ids: readonly number[],
): Promise<DesiredRow[]> {
  return inPieces(ids, (piece) => selectDesired(queries, [writeIds(piece)]))
}

const selectDesired = prepareQuery((queries) =>
  queries
    .selectFrom('agents')
    .select(['id', 'desiredRevision', 'desired', 'recordedRevision'])
    .select(['state', 'awaitsPlacement'])
    .where('id', 'in', listIds([])),
)
