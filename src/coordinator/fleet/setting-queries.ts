/**
 * Parameters and backend health of agents as set through the API, and how they and the common parameters of a group's
 * caches form the settings of a desired state.
 *
 * A rule on a backend applies to every group, to an organization's groups, or to one group; the narrower rule wins. Write
 * under the decision lock, and recompose the agent's desired state in the same transaction.
 */
import type { BackendHealth, DesiredHealth, DesiredSettings } from '../../vcl/engine-settings.js'
import { groupBy } from '../../group-by.js'
import { composeParams } from './param-set.js'
import { readCommonParams } from './paramset-queries.js'
import type { PlacementRecord } from './placement-queries.js'
import { listIds, writeIds } from '../store/given-rows.js'
import { prepareQuery } from '../store/prepared-query.js'
import { ownerOf, within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

/** A group on an agent, with its owner. */
export type PlacedGroup = Pick<PlacementRecord, 'groupId' | 'organizationId'>

/** Settings by agent id; agents without settings are omitted. Three queries. */
export async function readSettings(
  queries: Queries,
  agentIds: readonly number[],
  placed: ReadonlyMap<number, readonly PlacedGroup[]>,
): Promise<Map<number, DesiredSettings>> {
  const params = groupBy(await selectParams(queries, [writeIds(agentIds)]), (row) => row.agentId)
  const rules = groupBy(await selectRules(queries, [writeIds(agentIds)]), (row) => row.agentId)
  const common = await readCommonParams(queries, agentIds)
  const settings = new Map<number, DesiredSettings>()
  for (const id of new Set([...common.keys(), ...params.keys(), ...rules.keys()])) {
    const set = composeParams(common.get(id) ?? {}, params.get(id) ?? [])
    const health = composeHealth(rules.get(id) ?? [], placed.get(id) ?? [])
    settings.set(id, {
      ...(set.length > 0 ? { params: set } : {}),
      ...(health.length > 0 ? { health } : {}),
    })
  }
  return settings
}

const selectParams = prepareQuery((queries) =>
  queries.selectFrom('agentParams').selectAll().where('agentId', 'in', listIds([])),
)

const selectRules = prepareQuery((queries) =>
  queries
    .selectFrom('agentBackends')
    .selectAll()
    .where('agentId', 'in', listIds([]))
    .orderBy('backend')
    .orderBy('organizationId')
    .orderBy('groupId'),
)

/** Null resets to the default. */
export async function writeParam(
  queries: Queries,
  agentId: number,
  { name, value }: { readonly name: string; readonly value: string | null },
): Promise<void> {
  if (value === null)
    await queries
      .deleteFrom('agentParams')
      .where('agentId', '=', agentId)
      .where('name', '=', name)
      .execute()
  else
    await queries
      .insertInto('agentParams')
      .values({ agentId, name, value })
      .onConflict((conflict) => conflict.columns(['agentId', 'name']).doUpdateSet({ value }))
      .execute()
}

export interface HealthChange {
  readonly backend: string
  readonly health: BackendHealth
  /** Null: every group of the scope. */
  readonly group: PlacedGroup | null
}

/** A rule for every group replaces those for single groups. `auto` is stored only as an exception to a broader rule. */
export async function writeHealth(
  queries: Queries,
  scope: Scope,
  agentId: number,
  { backend, health, group }: HealthChange,
): Promise<void> {
  const replaced = queries
    .deleteFrom('agentBackends')
    .where('agentId', '=', agentId)
    .where('backend', '=', backend)
  await (
    group
      ? replaced.where('groupId', '=', group.groupId)
      : replaced.where(within(scope, 'agentBackends'))
  ).execute()
  const organizationId = group ? group.organizationId : ownerOf(scope)
  if (health === 'auto') {
    const broader = await queries
      .selectFrom('agentBackends')
      .select('backend')
      .where('agentId', '=', agentId)
      .where('backend', '=', backend)
      .where('groupId', 'is', null)
      .where((e) =>
        e.or([e('organizationId', 'is', null), e('organizationId', '=', organizationId)]),
      )
      .executeTakeFirst()
    if (!broader) return
  }
  await queries
    .insertInto('agentBackends')
    .values({ agentId, organizationId, groupId: group?.groupId ?? null, backend, health })
    .execute()
}

/** Counts both kinds, to enforce a limit. */
export async function countSettings(queries: Queries, agentId: number): Promise<number> {
  const params = queries.selectFrom('agentParams').select('name').where('agentId', '=', agentId)
  const rules = queries
    .selectFrom('agentBackends')
    .select('backend as name')
    .where('agentId', '=', agentId)
  return (await params.unionAll(rules).execute()).length
}

/** The groups on an agent that the caller may see. */
export async function readPlacedGroups(
  queries: Queries,
  scope: Scope,
  agentId: number,
): Promise<PlacedGroup[]> {
  return queries
    .selectFrom('placements')
    .select(['groupId', 'organizationId'])
    .distinct()
    .where('agentId', '=', agentId)
    .where(within(scope, 'placements'))
    .orderBy('groupId')
    .execute()
}

/**
 * The groups on an agent that a rule of this owner applies to; null: every managed VCL, if no other owner has groups there.
 */
export function groupsOf(
  organizationId: number | null,
  placed: readonly PlacedGroup[],
): readonly number[] | null {
  if (organizationId === null) return null
  const own = placed.filter((group) => group.organizationId === organizationId)
  return own.length === placed.length ? null : [...new Set(own.map(({ groupId }) => groupId))]
}

interface Rule {
  readonly organizationId: number | null
  readonly groupId: number | null
  readonly backend: string
  readonly health: string
}

/** Broader rules first; omits rules that do not apply here. */
function composeHealth(
  rules: readonly Rule[],
  placed: readonly PlacedGroup[],
): readonly DesiredHealth[] {
  const breadth = ({ groupId, organizationId }: Rule): number =>
    (groupId === null ? 0 : 2) + (organizationId === null ? 0 : 1)
  const order = (a: Rule, b: Rule) =>
    breadth(a) - breadth(b) ||
    (a.groupId ?? a.organizationId ?? 0) - (b.groupId ?? b.organizationId ?? 0)
  return rules.toSorted(order).flatMap((rule): DesiredHealth[] => {
    const groups = rule.groupId === null ? groupsOf(rule.organizationId, placed) : [rule.groupId]
    const isHere = groups === null || groups.some((id) => placed.some((one) => one.groupId === id))
    const health = rule.health as BackendHealth // written by writeHealth only
    return isHere ? [{ backend: rule.backend, health, groups }] : []
  })
}
