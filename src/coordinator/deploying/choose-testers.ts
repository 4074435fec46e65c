/** Chooses the agents that may run the tests of a group: some of each release, those with a release of the group's caches first. */
import { agentStates } from '../../resources/agent-state.js'
import { isOfRelease, isOfReleases, type CacheRelease } from '../../resources/cache-release.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { scopeOfOwner, visibleAgents } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface Tester {
  readonly id: number
  readonly name: string
  /** Null: shared. */
  readonly organizationId: number | null
  readonly release: CacheRelease
}

/** Returns Running agents with the capability, shared or of the group's owner; with `release`, only agents of that release. */
export async function chooseTesters(
  queries: Queries,
  { id, organizationId, releases }: Pick<GroupRecord, 'id' | 'organizationId' | 'releases'>,
  release: string | undefined,
): Promise<readonly Tester[]> {
  const testers = await readTesters(queries, organizationId)
  const held = await readReleases(queries, id)
  const rank = (one: Tester): number =>
    (held.some((other) => isSame(other, one.release)) ? 0 : 2) +
    (isOfReleases(one.release, releases) ? 0 : 1)
  return testers
    .filter((one) => release === undefined || isOfRelease(one.release, release))
    .toSorted((a, b) => rank(a) - rank(b))
}

function isSame(a: CacheRelease, b: CacheRelease): boolean {
  return a.product === b.product && a.version === b.version
}

/**
 * Returns the first and the last agent of each owner and release: this bounds the result however large the fleet is, and leaves
 * a second agent if the first cannot run the tests.
 */
async function readTesters(queries: Queries, owner: number | null): Promise<readonly Tester[]> {
  const outermost = (which: 'min' | 'max') =>
    queries
      .selectFrom('agents')
      .select((e) => e.fn[which]('id').as('id'))
      .where(visibleAgents(scopeOfOwner(owner)))
      .where('state', '=', agentStates.Running)
      // `capabilities` is a JSON array of strings.
      .where('capabilities', 'like', '%"tests"%')
      .groupBy(['organizationId', 'engineProduct', 'engineVersion'])
  const rows = await queries
    .selectFrom('agents')
    .select(['id', 'name', 'organizationId'])
    .select(['engineProduct as product', 'engineVersion as version'])
    .where((e) => e.or([e('id', 'in', outermost('min')), e('id', 'in', outermost('max'))]))
    .orderBy('id')
    .execute()
  return rows.map(({ product, version, ...agent }) => ({ ...agent, release: { product, version } }))
}

async function readReleases(queries: Queries, groupId: number): Promise<readonly CacheRelease[]> {
  return queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .select(['agents.engineProduct as product', 'agents.engineVersion as version'])
    .distinct()
    .where('placements.groupId', '=', groupId)
    .execute()
}
