/** Resolves the target of an invalidation to agents, each with its coverage (docs/behaviour.md, Coverage). */
import { groupBy } from '../../group-by.js'
import { isNothing, type InvalidationContent, type Coverage } from './invalidation.js'
import {
  banCoverage,
  purgeCoverage,
  memberCoverage,
  type TouchableGroup,
} from './invalidation-coverage.js'
import { hostName, listHoldingNames, parsePurgeUrl, type HeldName } from './purge-url.js'
import { selectDomains } from '../domains/domain-queries.js'
import type { TargetRecord } from './invalidation-queries.js'
import {
  readGroupIdsWithDomains,
  readGroupsOnAgents,
  readNamedAgents,
  readNamesOnAgents,
  readTargetAgents,
  type SetMember,
  type TargetAgent,
  type TargetedBy,
} from './target-queries.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { selectTags } from '../fleet/tag-queries.js'
import { readGroups } from '../fleet/group-queries.js'
import { requireChangeable } from '../agents/instruct.js'
import { requireAll } from '../api/find-references.js'
import { rememberOf } from '../../runtime/bounded-cache.js'

interface Reference {
  readonly id: number
}

/** As written by the caller: exactly one key. */
export interface Target {
  readonly vclGroup?: Reference
  readonly domains?: readonly Reference[]
  readonly tags?: readonly Reference[]
  readonly agents?: readonly Reference[]
  readonly all?: true
}

export interface FoundTarget {
  readonly record: TargetRecord
  readonly by: TargetedBy
}

/** Throws FleetError 'invalid' naming the key of a missing object, and the errors of a named agent that may not be changed. */
export async function findTarget(
  queries: Queries,
  scope: Scope,
  target: Target,
): Promise<FoundTarget> {
  if (target.vclGroup) return findGroupTarget(queries, scope, target.vclGroup)
  if (target.domains) return findDomainsTarget(queries, scope, target.domains)
  if (target.tags) return findTagsTarget(queries, scope, target.tags)
  if (target.agents) return findAgentsTarget(queries, scope, target.agents)
  return { record: { all: true }, by: {} }
}

async function findGroupTarget(
  queries: Queries,
  scope: Scope,
  given: Reference,
): Promise<FoundTarget> {
  const found = await readFound('vclGroup', [given], (ids) => readGroups(queries, scope, { ids }))
  const { id, name, console } = found[0] ?? { id: given.id, name: '', console: false }
  const by = { groupIds: [id], ...(console ? { memberOf: id } : {}) }
  return { record: { vclGroup: { id, name } }, by }
}

async function findDomainsTarget(
  queries: Queries,
  scope: Scope,
  given: readonly Reference[],
): Promise<FoundTarget> {
  const found = await readFound('domains', given, (ids) =>
    selectDomains(queries, scope)
      .where('domains.id', 'in', [...ids])
      .execute(),
  )
  const domains = found.map(({ id, fqdn }) => ({ id, fqdn }))
  const fqdns = domains.map(({ fqdn }) => fqdn)
  const groupIds = await readGroupIdsWithDomains(queries, scope, fqdns)
  return { record: { domains }, by: { groupIds } }
}

/** An agent with all of the tags, as for deployments and stages. */
async function findTagsTarget(
  queries: Queries,
  scope: Scope,
  given: readonly Reference[],
): Promise<FoundTarget> {
  const found = await readFound('tags', given, (ids) =>
    selectTags(queries, scope)
      .where('tags.id', 'in', [...ids])
      .execute(),
  )
  const tags = found.map(({ id, name }) => ({ id, name }))
  return { record: { tags }, by: { tagIds: tags.map(({ id }) => id) } }
}

async function findAgentsTarget(
  queries: Queries,
  scope: Scope,
  given: readonly Reference[],
): Promise<FoundTarget> {
  const found = await readFound('agents', given, (agentIds) =>
    readNamedAgents(queries, scope, agentIds),
  )
  for (const agent of found) requireChangeable(agent)
  const agents = found.map(({ id, name }) => ({ id, name }))
  return { record: { agents }, by: { agentIds: agents.map(({ id }) => id) } }
}

async function readFound<Row extends Reference>(
  key: string,
  given: readonly Reference[],
  read: (ids: readonly number[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  let found: readonly Row[] = []
  await requireAll(given, `target.${key}`, 'invalidation', async (ids) => {
    found = await read(ids)
    return found.map(({ id }) => id)
  })
  return found
}

/** Sorted by id. Read-only agents are skipped, as in deploys, because they could never carry it out. */
export async function readAbleAgents(
  queries: Queries,
  scope: Scope,
  { by }: FoundTarget,
): Promise<readonly TargetAgent[]> {
  if (by.groupIds?.length === 0) return []
  return keepAble(await readTargetAgents(queries, scope, by))
}

const keepAble = rememberOf((agents: readonly TargetAgent[]): readonly TargetAgent[] =>
  agents.filter(({ capabilities }) => capabilities.includes('command')),
)

/** In the same order. */
export async function findMembers(
  queries: Queries,
  scope: Scope,
  of: {
    readonly agents: readonly TargetAgent[]
    readonly target: FoundTarget
    readonly content: InvalidationContent
  },
): Promise<readonly SetMember[]> {
  const { memberOf } = of.target.by
  const isBan = of.content.type === 'ban'
  if (isBan && !isNarrowed(scope, of.target.by)) return coverWhole(of.agents)
  const coverageOf =
    memberOf !== undefined && isBan
      ? await prepareMemberCoverage(queries, memberOf, of.agents)
      : await prepareCoverage(queries, scope, of.target.by, of.content)
  return of.agents.map(({ id }) => ({ agentId: id, coverage: coverageOf(id) }))
}

const coverWhole = rememberOf((agents: readonly TargetAgent[]): readonly SetMember[] => {
  const coverage = banCoverage(false, [])
  return agents.map(({ id }) => ({ agentId: id, coverage }))
})

/** Agents with something to invalidate. */
export const keepCovered = rememberOf((members: readonly SetMember[]): readonly SetMember[] =>
  members.filter(({ coverage }) => !isNothing(coverage)),
)

/** True for an organization's entry, and for one that names groups or domains. */
function isNarrowed(scope: Scope, by: TargetedBy): boolean {
  return scope.kind === 'organization' || by.groupIds !== undefined
}

/** Whatever groups are placed there. */
async function prepareMemberCoverage(
  queries: Queries,
  memberOf: number,
  agents: readonly TargetAgent[],
): Promise<(agentId: number) => Coverage> {
  const agentIds = agents.map(({ id }) => id)
  const placed =
    agentIds.length === 0 ? [] : await readGroupsOnAgents(queries, { kind: 'all' }, { agentIds })
  const groups = groupBy(placed, ({ agentId }) => agentId)
  return (agentId) => memberCoverage(memberOf, groups.get(agentId) ?? [])
}

async function prepareCoverage(
  queries: Queries,
  scope: Scope,
  by: TargetedBy,
  content: InvalidationContent,
): Promise<(agentId: number) => Coverage> {
  if (by.groupIds?.length === 0) return () => ({ groups: [] })
  const groups = groupBy(await readGroupsOnAgents(queries, scope, by), ({ agentId }) => agentId)
  const groupsOn = (agentId: number): readonly TouchableGroup[] => groups.get(agentId) ?? []
  if (content.type === 'ban')
    return (agentId) => banCoverage(isNarrowed(scope, by), groupsOn(agentId))
  const hosts = listHosts(content.urls)
  const names = await readNamesOnAgents(queries, hosts.flatMap(listHoldingNames))
  const held = groupBy(names, ({ agentId }) => agentId)
  const heldOn = (agentId: number): readonly HeldName[] => held.get(agentId) ?? []
  return (agentId) => purgeCoverage(hosts, groupsOn(agentId), heldOn(agentId))
}

/** Distinct hosts of the URLs in order of first appearance; `holders` of a coverage are in this order. */
export function listHosts(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.map((url) => hostName(parsePurgeUrl(url))))]
}
