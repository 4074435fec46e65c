/**
 * Parameter sets of the console, the groups that use them, and the parameters of these groups' caches. Write under the
 * decision lock, and recompose the desired states of those caches in the same transaction.
 */
import { groupBy } from '../../group-by.js'
import type { ParamValues } from './param-set.js'
import { listIds, writeIds } from '../store/given-rows.js'
import { prepareQuery } from '../store/prepared-query.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { insertRow, updateRow } from '../store/write-rows.js'

export interface ParamSetFields {
  readonly name: string
  readonly description: string
  readonly params: ParamValues
}

export interface ParamSetRecord extends ParamSetFields {
  readonly id: number
  readonly organizationId: number | null
  /** Groups that use it. */
  readonly groupIds: readonly number[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** Sorted by id; two queries. */
export async function readParamSets(
  queries: Queries,
  scope: Scope,
  { id }: { readonly id?: number } = {},
): Promise<ParamSetRecord[]> {
  let sets = queries.selectFrom('paramSets').selectAll().where(within(scope, 'paramSets'))
  let uses = queries
    .selectFrom('consoleGroups')
    .innerJoin('paramSets', 'paramSets.id', 'consoleGroups.paramSetId')
    .select(['consoleGroups.groupId', 'paramSets.id'])
    .where(within(scope, 'paramSets'))
  if (id !== undefined) {
    sets = sets.where('paramSets.id', '=', id)
    uses = uses.where('paramSets.id', '=', id)
  }
  const usesOf = groupBy(await uses.orderBy('consoleGroups.groupId').execute(), (use) => use.id)
  const rows = await sets.orderBy('paramSets.id').execute()
  return rows.map(({ params, ...row }) => ({
    ...row,
    params: parseParams(params),
    groupIds: (usesOf.get(row.id) ?? []).map(({ groupId }) => groupId),
  }))
}

/** Counts the sets of one owner, to enforce a limit. */
export async function countParamSets(
  queries: Queries,
  organizationId: number | null,
): Promise<number> {
  const { count } = await queries
    .selectFrom('paramSets')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('organizationId', organizationId === null ? 'is' : '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertParamSet(
  queries: Queries,
  organizationId: number | null,
  { params, ...fields }: ParamSetFields,
  now: number,
): Promise<number> {
  const row = { ...fields, organizationId, params: JSON.stringify(params) }
  return insertRow(queries, 'paramSets', row, now)
}

export async function updateParamSet(
  queries: Queries,
  id: number,
  { params, ...fields }: ParamSetFields,
  now: number,
): Promise<void> {
  const row = { ...fields, params: JSON.stringify(params), updatedAt: now }
  await updateRow(queries, 'paramSets', id, row)
}

/** `paramSetId` null: no set. */
export async function relateParamSet(
  queries: Queries,
  groupId: number,
  paramSetId: number | null,
): Promise<void> {
  await queries
    .updateTable('consoleGroups')
    .set({ paramSetId })
    .where('groupId', '=', groupId)
    .execute()
}

/** Names of the groups that use it; at most `limit`. */
export async function readGroupsWithParamSet(
  queries: Queries,
  id: number,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('consoleGroups')
    .innerJoin('vclGroups', 'vclGroups.id', 'consoleGroups.groupId')
    .select('vclGroups.name')
    .where('consoleGroups.paramSetId', '=', id)
    .orderBy('vclGroups.id')
    .limit(limit)
    .execute()
  return rows.map(({ name }) => name)
}

/** Parameters that these agents get from their groups' sets; agents of a group without one are omitted. One query. */
export async function readCommonParams(
  queries: Queries,
  agentIds: readonly number[],
): Promise<Map<number, ParamValues>> {
  const rows = await selectCommon(queries, [writeIds(agentIds)])
  const parsed = new Map([...new Set(rows.map(({ params }) => params))].map(toParsed))
  return new Map(rows.map(({ agentId, params }) => [agentId, parsed.get(params) ?? {}]))
}

const selectCommon = prepareQuery((queries) =>
  queries
    .selectFrom('paramSets')
    .innerJoin('consoleGroups', 'consoleGroups.paramSetId', 'paramSets.id')
    .innerJoin('groupMembers', 'groupMembers.groupId', 'consoleGroups.groupId')
    .select(['groupMembers.agentId', 'paramSets.params'])
    .where('groupMembers.agentId', 'in', listIds([])),
)

function toParsed(text: string): readonly [string, ParamValues] {
  return [text, parseParams(text)]
}

function parseParams(text: string): ParamValues {
  return JSON.parse(text) as ParamValues // written by insertParamSet and updateParamSet only
}
