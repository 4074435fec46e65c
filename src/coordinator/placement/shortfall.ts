/**
 * A change of tags, min or max that would take a deployed group below min needs `force` (docs/behaviour.md, Placement).
 * The change is made inside the transaction, judged by the placement decision that results, and rolled back if refused.
 */
import { placementInputsSubject } from '../bus/subjects.js'
import { indexAgents, type AgentIndex } from '../fleet/agent-index.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { readDeploymentsInForce } from '../fleet/target-queries.js'
import { readFleet } from '../fleet/fleet.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { scopeOfOwner } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { readGroups, releasesOf, type GroupRecord } from '../fleet/group-queries.js'
import { decidePlacement } from './placing.js'
import type { StateService } from '../service.js'

interface Change {
  /** The caller; groups of other owners are not named. */
  readonly actor: Pick<Actor, 'organizationId'>
  readonly errorKey: ErrorKey
  /** The deployed groups that the change affects. */
  readonly readGroupIds: (queries: Queries) => Promise<readonly number[]>
  readonly write: (queries: Queries) => Promise<void>
  readonly force: boolean
}

/** Throws 'conflict' with the names of the caller's groups. After the change, placements are reconciled without another call. */
export async function changeTargets(service: StateService, change: Change): Promise<void> {
  await service.store.decide(async (queries) => {
    const groups = change.force
      ? []
      : await readDeployed(queries, await change.readGroupIds(queries))
    const before = await findShort(queries, groups)
    await change.write(queries)
    const after = await findShort(queries, groups)
    const fallen = groups.filter(({ id }) =>
      [...(after.get(id) ?? [])].some((deploymentId) => before.get(id)?.has(deploymentId) !== true),
    )
    if (fallen.length > 0) throw describeShortfall(fallen, change)
  })
  service.bus.publish(placementInputsSubject, {})
}

async function readDeployed(queries: Queries, ids: readonly number[]): Promise<GroupRecord[]> {
  return ids.length === 0 ? [] : readGroups(queries, { kind: 'all' }, { ids, deployed: true })
}

/** Returns the deployments that placement would now leave below their min, by group. */
async function findShort(
  queries: Queries,
  groups: readonly GroupRecord[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const short = new Map<number, ReadonlySet<number>>()
  if (groups.length === 0) return short
  const placements = await readPlacements(queries, {
    groupIds: groups.map(({ id }) => id),
    stage: false,
  })
  const deployments = await readDeploymentsInForce(queries, groups)
  const fleets = new Map<number | null, AgentIndex>()
  for (const group of groups) {
    const owner = group.organizationId
    const agents = fleets.get(owner) ?? indexAgents(await readFleet(queries, scopeOfOwner(owner)))
    fleets.set(owner, agents)
    const decision = await decidePlacement(queries, {
      group: {
        id: group.id,
        domains: group.desiredRelease?.domains ?? [],
        releases: releasesOf(group),
      },
      deployments: deployments.get(group.id) ?? [],
      agents,
      placements: placements.filter(({ groupId }) => groupId === group.id),
    })
    short.set(group.id, new Set(decision.shortages.map(({ deploymentId }) => deploymentId)))
  }
  return short
}

/** An organization's agent with a shared tag may hold a group of the system administrator. */
function describeShortfall(
  groups: readonly GroupRecord[],
  { actor, errorKey }: Pick<Change, 'actor' | 'errorKey'>,
): FleetError {
  const { organizationId } = actor
  const names = groups
    .map((group) =>
      organizationId === null || group.organizationId === organizationId
        ? JSON.stringify(group.name)
        : "one of the system administrator's",
    )
    .join(', ')
  return new FleetError(
    'conflict',
    errorKey,
    `this change would take a deployed group below its min: ${names}; ?force=true makes it anyway`,
  )
}
