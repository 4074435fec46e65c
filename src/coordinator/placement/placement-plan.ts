/**
 * Computes where a planned change would place groups: the planned groups and deployments, existing or new, are placed one after
 * the other over the current fleet. Nothing is stored or changed.
 */
import { domainToASCII } from 'node:url'
import { setImmediate } from 'node:timers/promises'
import {
  indexInSteps,
  noteDomains,
  recordPlacement,
  type AgentIndex,
} from '../fleet/agent-index.js'
import { parseDomainName } from '../../resources/domain-name.js'
import { groupBy } from '../../group-by.js'
import { runInSteps } from '../../in-steps.js'
import type { Actor } from '../../resources/permission.js'
import type { ForeseenPlacements } from '../../resources/vclgroup.js'
import { describePlacements } from './describe-placements.js'
import { placeInSteps } from './placement.js'
import { programOf, type ReleaseDomain } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { readFleet } from '../fleet/fleet.js'
import { readUsableIds } from '../store/owner.js'
import { readOtherHolders } from '../fleet/placement-domains.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { readReplaceable } from '../fleet/replaced-placements.js'
import { scopeOfOwner } from '../store/scope.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import type { NamedDeployment } from '../fleet/target-queries.js'
import { readGroups, readNewestGroupId, type GroupRecord } from '../fleet/group-queries.js'
import { referencesNotFound, requireAll } from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import { holdsPlacement, toPlacementInput, type GroupToPlace } from './placing.js'
import type { PlacementPlan } from './plan-schemas.js'
import { readNamesOf, takeOverPlacements } from './replacing.js'
import { describeShortages } from './shortage.js'

type PlannedGroup = PlacementPlan['groups'][number]

/** Throws 'invalid' if the plan refers to objects that the caller's organization does not have. */
export async function planPlacement(
  service: StateService,
  actor: Actor,
  plan: PlacementPlan,
): Promise<ForeseenPlacements[]> {
  const { queries } = service.store
  const present = await readOwnGroups(service, actor, plan)
  const places = groupBy(
    present.size === 0
      ? []
      : await readPlacements(queries, { groupIds: [...present.keys()], stage: false }),
    ({ groupId }) => groupId,
  )
  const fleet = await readFleet(queries, scopeOfOwner(actor.organizationId))
  const agents = await runInSteps(indexInSteps(fleet))
  const groups = toWanted(plan, await readNewestGroupId(queries))
  const fqdns = [...new Set(groups.flatMap(({ domains }) => domains.map(({ fqdn }) => fqdn)))]
  // No group has the id 0, so all holders are read: a planned group has no conflict with itself.
  noteDomains(agents, await readOtherHolders(queries, { groupId: 0, stage: false }, fqdns))
  for (const { id } of plan.undeployed ?? [])
    recordPlacement(agents, { id, root: false }, { add: [], remove: places.get(id) ?? [] })
  const deployments = await numberDeployments(service, actor, plan.deployments)
  const names = new Map(fleet.map(({ id, name }) => [id, name]))
  const nameOf = await readNamesOf(queries, actor.organizationId)
  const others = await readReplaceable(queries, { id: 0, organizationId: actor.organizationId })
  const foreseen: ForeseenPlacements[] = []
  for (const group of groups) {
    const targets = group.deployments.map((name) => findByName(deployments, name))
    const release = present.get(group.id)?.desiredRelease
    const input = toPlacementInput({
      group: withReplaces(group, others),
      deployments: targets,
      agents,
      placements: places.get(group.id) ?? [],
      wanted: release ? programOf(release) : undefined,
      nameOf,
    })
    const decision = await runInSteps(placeInSteps(input))
    leavePlacements(agents, group, places.get(group.id) ?? [])
    takeOverPlacements(agents, group, decision)
    foreseen.push({
      name: group.name,
      agents: describePlacements(decision, targets, { agents, names, nameOf }),
      shortage: describeShortages(decision, targets, { agents: fleet, nameOf })?.message ?? null,
    })
    await setImmediate() // many groups over a large fleet
  }
  return foreseen
}

async function readOwnGroups(
  service: StateService,
  actor: Actor,
  { groups, undeployed }: PlacementPlan,
): Promise<ReadonlyMap<number, GroupRecord>> {
  const planned = groups.flatMap(({ id }) => id ?? [])
  const leaving = (undeployed ?? []).map(({ id }) => id)
  const ids = [...new Set([...planned, ...leaving])]
  if (ids.length === 0) return new Map()
  const found = await readGroups(service.store.queries, scopeOf(actor), { ids })
  const own = new Map(
    found
      .filter(({ organizationId }) => organizationId === actor.organizationId)
      .map((group) => [group.id, group]),
  )
  for (const [key, named] of Object.entries({ groups: planned, undeployed: leaving })) {
    const missing = named.filter((id) => !own.has(id))
    if (missing.length > 0) throw referencesNotFound(key, missing, 'vclgroup')
  }
  return own
}

interface WantedGroup extends Omit<PlannedGroup, 'domains' | 'releases'> {
  readonly id: number
  readonly releases: readonly string[] | null
  readonly domains: readonly ReleaseDomain[]
}

/**
 * New groups get the ids that they will have if no other group is created before. The order of agents
 * with equally many groups depends on the id.
 */
function toWanted({ groups }: PlacementPlan, newestId: number): readonly WantedGroup[] {
  let nextId = newestId
  return groups.map((group) => ({
    ...group,
    id: group.id ?? ++nextId,
    releases: group.releases ?? null,
    domains: group.domains.map((name) => ({ id: 0, fqdn: parseDomainName(name, domainToASCII) })),
  }))
}

/** No agent has this tag: ids start at 1. */
const unknownTagId = 0
/** They are read in one statement (SQLite accepts 32,766 parameters). */
const maxTags = 10_000
/** Above all existing ids, because new deployments are the newest. */
const newIds = 2 ** 50

async function numberDeployments(
  service: StateService,
  { organizationId }: Actor,
  deployments: PlacementPlan['deployments'],
): Promise<NamedDeployment[]> {
  const { queries } = service.store
  await requireAll(deployments.flatMap(takeKnown), 'deployments', 'vclgroup', (ids) =>
    readUsableIds(queries, 'deployments', organizationId, ids),
  )
  const tags = deployments.flatMap((one) => one.tags.flatMap(takeKnown))
  if (tags.length > maxTags)
    throw new FleetError('invalid', 'vclgroup', `deployments: over ${maxTags} tags in all`)
  await requireAll(tags, 'deployments.tags', 'vclgroup', (ids) =>
    readUsableTagIds(queries, organizationId, ids),
  )
  return deployments.map(({ tags, ...deployment }, index) => ({
    ...deployment,
    id: deployment.id ?? newIds + index,
    target: { kind: 'tags', tagIds: tags.map(({ id }) => id ?? unknownTagId) },
  }))
}

/** Objects that are still to be created have no id. */
function takeKnown({ id }: { readonly id?: number | undefined }): { readonly id: number }[] {
  return id === undefined ? [] : [{ id }]
}

function findByName(deployments: readonly NamedDeployment[], name: string): NamedDeployment {
  const found = deployments.find((deployment) => deployment.name === name)
  if (found) return found
  throw new FleetError(
    'invalid',
    'vclgroup',
    `deployments: ${JSON.stringify(name)} is used by a group but not in the plan`,
  )
}

function withReplaces(group: WantedGroup, others: ReadonlySet<number>): GroupToPlace {
  return group.replace === true ? { ...group, replaces: others } : group
}

/** Frees the group's earlier placements in the index, so that later groups in the plan can use them. */
function leavePlacements(
  agents: AgentIndex,
  { id }: WantedGroup,
  before: readonly PlacementRecord[],
): void {
  recordPlacement(agents, { id, root: false }, { add: [], remove: before.filter(holdsPlacement) })
}
