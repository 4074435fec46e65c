/** The agents' rows as the link writes and reads them: identity, what hello says, the desired state that is sent. */
import type { Selectable } from 'kysely'
import { agentStates } from '../../resources/agent-state.js'
import { holdQuota } from '../store/quotas.js'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

export interface AgentIdentity {
  readonly id: number
  readonly organizationId: number | null
  readonly name: string
  readonly state: number
  /** The link that counted when this was read. */
  readonly linkId: string | null
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

/** By id; null: shared. Agents that are gone are left out. */
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

/** What a hello says of an agent, as the row keeps it. */
export type DescribedColumns = Pick<
  Selectable<Tables['agents']>,
  | 'name'
  | 'agentVersion'
  | 'capabilities'
  | 'engineHost'
  | 'enginePort'
  | 'engineVersion'
  | 'engineWorkingDirectory'
  | 'engineRevision'
  | 'hostName'
  | 'held'
>

export interface RegisteredRow extends DescribedColumns {
  readonly id: number
  readonly organizationId: number | null
  readonly keyDigest: string
  readonly desiredRevision: number
  readonly adopting: 0 | 1
  readonly adoption: string | null
  readonly state: number
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
      'engineRevision',
      'hostName',
      'held',
      'desiredRevision',
      'adopting',
      'adoption',
      'state',
    ])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** What the row says of a moment: written at registration, then by agent-conditions.ts. */
export type ConditionColumns = Pick<
  Selectable<Tables['agents']>,
  'state' | 'engineState' | 'engineError' | 'effectiveRevision' | 'lockedBecause' | 'cachePid'
>

export interface NewAgent extends DescribedColumns, ConditionColumns {
  readonly organizationId: number | null
  readonly keyDigest: string
  readonly desiredRevision: number
  /** JSON of DesiredEngine. */
  readonly desired: string
  /** What its cache runs is to be adopted first. */
  readonly adopting?: 0 | 1
}

export async function insertAgent(queries: Queries, agent: NewAgent, now: number): Promise<number> {
  const { id } = await queries
    .insertInto('agents')
    .values({
      ...agent,
      awaitsPlacement: 1,
      createdAt: now,
      updatedAt: now,
      lastHeartbeatAt: now,
      lastStateChangeAt: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await holdQuota(queries, agent.organizationId, 'agents')
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
      recordedRevision: null,
      adopting: 0,
      awaitsPlacement: 1,
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
/** Of all organizations. */
export async function readAllAgentIds(queries: Queries): Promise<number[]> {
  const rows = await queries.selectFrom('agents').select('id').execute()
  return rows.map(({ id }) => id)
}

export async function deleteAgentRow(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('agentTags').where('agentId', '=', id).execute()
  await queries.deleteFrom('placements').where('agentId', '=', id).execute()
  await queries.deleteFrom('agents').where('id', '=', id).execute()
}

/** What people write of an agent's cache in the console; what is left out stays. */
export type ConsoleColumns = Partial<Pick<Selectable<Tables['agents']>, 'consoleName' | 'description'>>

export async function describeInConsole(
  queries: Queries,
  id: number,
  columns: ConsoleColumns,
  now: number,
): Promise<void> {
  await queries
    .updateTable('agents')
    .set({ ...columns, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

export interface DesiredRow {
  readonly id: number
  readonly desiredRevision: number
  /** JSON of DesiredEngine. */
  readonly desired: string
  readonly recordedRevision: number | null
  readonly state: number
  readonly awaitsPlacement: 0 | 1
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
        .select(['id', 'desiredRevision', 'desired', 'recordedRevision'])
        .select(['state', 'awaitsPlacement'])
        .where('id', 'in', ids.slice(start, start + idsPerStatement))
        .execute()),
    )
  return rows
}
