/**
 * A deploy with `replace`: where other groups of the same owner hold a chosen agent, its VCL is loaded beside theirs and takes
 * over their placements with the switch. They keep their other agents; a group that has none left is undeployed.
 */
import { recordPlacement, type AgentIndex } from '../fleet/agent-index.js'
import type { PlacementDecision } from './placement.js'
import type { ReleaseDomain } from '../fleet/vcl-group.js'
import { readDeploys } from '../fleet/deploy-queries.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import { addHistory } from '../fleet/history-queries.js'
import type { NamedReference } from '../store/owner.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { findUnplaced, readBeingReplaced, readGroupNames } from '../fleet/replaced-placements.js'
import type { Queries } from '../store/store.js'
import { readGroups, writeDesiredRelease, type GroupRecord } from '../fleet/group-queries.js'
import { decidePlacement, holdsPlacement } from './placing.js'

/** Whether the deploy of a group must wait: another deploy of it is running, or one that takes over a placement of it. */
export async function isInDeploy(queries: Queries, groupId: number): Promise<boolean> {
  if ((await readDeploys(queries, [groupId])).length > 0) return true
  return (await readBeingReplaced(queries, [groupId])).length > 0
}

interface JudgedReplacing {
  readonly group: { readonly id: number; readonly domains: readonly ReleaseDomain[] }
  readonly decision: PlacementDecision
  /** The index that the decision was made with; it is updated to the state after the switch. */
  readonly agents: AgentIndex
  readonly force: boolean
}

/** Returns why the placements cannot be taken over now; undefined if they can. Min does not apply to a group that loses all of them. */
export async function judgeReplacing(
  queries: Queries,
  { group, decision, agents, force }: JudgedReplacing,
): Promise<string | undefined> {
  const ids = [...new Set(decision.replaced.map(({ holder }) => holder))]
  if (ids.length === 0) return undefined
  const others = await readGroups(queries, { kind: 'all' }, { ids })
  const busy = new Set([
    ...(await readDeploys(queries, ids)).map(({ groupId }) => groupId),
    ...(await readBeingReplaced(queries, ids)),
  ])
  const moving = others.filter(({ id }) => busy.has(id))
  if (moving.length > 0)
    return `a deploy is changing ${nameGroups(moving)}, whose places this one would take; deploy again when that has ended`
  if (force) return undefined
  const before = await findShort(queries, others, { agents, decision })
  takeOverPlacements(agents, group, decision)
  const after = await findShort(queries, others, { agents, decision, without: true })
  const fallen = others.filter(({ id }) =>
    [...(after.get(id) ?? [])].some((deploymentId) => before.get(id)?.has(deploymentId) !== true),
  )
  return fallen.length === 0
    ? undefined
    : `taking their places would leave ${nameGroups(fallen)} below min; ?force=true deploys anyway`
}

/** Updates the index to the state after the switch, so that the next groups are placed by it. */
export function takeOverPlacements(
  agents: AgentIndex,
  { id, domains }: JudgedReplacing['group'],
  { replaced, keep, add }: PlacementDecision,
): void {
  for (const { holder, agentId } of replaced)
    recordPlacement(agents, { id: holder, root: false }, { add: [], remove: [{ agentId }] })
  const fqdns = domains.map(({ fqdn }) => fqdn)
  const placed = { id, root: fqdns.length === 0, fqdns }
  recordPlacement(agents, placed, { add: [...keep, ...add], remove: [] })
}

interface Short extends Pick<JudgedReplacing, 'agents' | 'decision'> {
  /** Without the placements that are taken over. */
  readonly without?: boolean
}

/** Returns the deployments below their min by group, for groups that keep a placement. */
async function findShort(
  queries: Queries,
  groups: readonly GroupRecord[],
  { agents, decision, without = false }: Short,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const short = new Map<number, ReadonlySet<number>>()
  const all = await readPlacements(queries, { groupIds: groups.map(({ id }) => id), stage: false })
  for (const { id, desiredRelease } of groups) {
    const taken = new Set(
      decision.replaced.filter(({ holder }) => holder === id).map(({ agentId }) => agentId),
    )
    const own = all.filter(({ groupId }) => groupId === id)
    const left = own.filter((place) => !taken.has(place.agentId))
    if (desiredRelease === null || !left.some(holdsPlacement)) continue
    const { shortages } = await decidePlacement(queries, {
      group: { id, domains: desiredRelease.domains, releases: desiredRelease.releases },
      deployments: await readDeploymentsOfGroup(queries, id, desiredRelease.deploymentIds),
      agents,
      placements: without ? left : own,
      ...(without && { exclude: taken }),
    })
    short.set(id, new Set(shortages.map(({ deploymentId }) => deploymentId)))
  }
  return short
}

/** The maximum number of groups named in a message. */
const groupsNamed = 10

function nameGroups(groups: readonly Pick<GroupRecord, 'name'>[]): string {
  const named = groups.slice(0, groupsNamed).map(({ name }) => JSON.stringify(name))
  const more = groups.length - named.length
  const what = groups.length === 1 ? 'group' : 'groups'
  return `${what} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

interface Replacement {
  /** Groups that lost a placement. */
  readonly ids: readonly number[]
  readonly by: NamedReference
  readonly account: string
  readonly now: number
}

/** Undeploys the groups that have no placement left. */
export async function undeployUnplaced(
  queries: Queries,
  { ids, by, account, now }: Replacement,
): Promise<void> {
  const placeless = await findUnplaced(queries, ids)
  if (placeless.length === 0) return
  for (const group of await readGroups(queries, { kind: 'all' }, { ids: placeless })) {
    const { id: groupId, organizationId, revision, desiredRelease } = group
    if (desiredRelease === null) continue
    await writeDesiredRelease(queries, groupId, { sources: null, pending: false, revision })
    const entry = { groupId, organizationId, revision, account, at: now, sources: desiredRelease }
    await addHistory(queries, { ...entry, action: 'undeploy', result: 'ok', replacedBy: by })
  }
}

/** Returns the names that a message to the owner's users may contain, by `holderId`. */
export async function readNamesOf(
  queries: Queries,
  organizationId: number | null,
): Promise<(holder: number) => string | undefined> {
  const names = await readGroupNames(queries, organizationId)
  return (holder) => names.get(Math.abs(holder))
}

/** Returns the agents on which the group has switched and takes over the placements of others. */
export function findSwitched(placements: readonly PlacementRecord[]): number[] {
  return placements
    .filter(({ candidate, current, state }) => !candidate && current && state !== 'failed')
    .map(({ agentId }) => agentId)
}
