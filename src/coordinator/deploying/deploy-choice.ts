/**
 * What a group verb puts on caches, and under which name it is loaded there. Chosen when the verb's turn has come, under
 * the decision lock: a reload or a rollback that waited for a deploy is about what that deploy made.
 */
import { isSameLoad, programName } from '../../vcl/desired-engine.js'
import type { WishedDomain, WishedSources } from '../fleet/vcl-group.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'
import { countLoad } from '../fleet/sources.js'
import type { Queries } from '../store/store.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { Gathered, GatheredSources } from '../groups/deploy-sources.js'

/**
 * `kept`: text that the group serves already keeps its name, and is not loaded again. `new`: it is compiled again. A name:
 * that of an earlier load, taken where a cache still has it.
 */
type Naming = 'kept' | 'new' | { readonly earlier: string }

export interface Choice {
  readonly gathered: GatheredSources
  readonly naming: Naming
}

/** Its text may be one that is refused. Throws FleetError: not-found, conflict. */
export type Choose = (
  queries: Queries,
  group: GroupRecord,
) => Promise<{ readonly gathered: Gathered; readonly naming: Naming }>

/** The wish as it would be; undefined when that is a text that must be loaded under a name of its own. */
export function findServing(
  group: Pick<GroupRecord, 'wish' | 'wishPending'>,
  { gathered, naming }: Choice,
): WishedSources | undefined {
  const { wish, wishPending } = group
  if (!wish || wishPending || naming === 'new') return undefined
  const isSame = naming === 'kept' ? wish.sha === gathered.source.sha : isNamed(wish, naming)
  const { deploymentIds } = gathered
  const isSameTarget =
    wish.deploymentIds.join() === deploymentIds.join() &&
    namesOf(wish.domains) === namesOf(gathered.domains)
  return isSame && isSameTarget ? wish : undefined
}

function namesOf(domains: readonly WishedDomain[]): string {
  return domains.map(({ fqdn }) => fqdn).join()
}

/** The text must have been kept. Gives it a name, a new one unless an earlier load of it counts. */
export async function nameChoice(
  queries: Queries,
  group: Pick<GroupRecord, 'id' | 'wish'>,
  { gathered, naming }: Choice,
  placements: readonly PlacementRecord[],
): Promise<WishedSources> {
  const { source, ...files } = gathered
  const { sha } = source
  const known = findName(group, { sha, naming }, placements)
  const name = known ?? programName(group.id, sha, await countLoad(queries, sha))
  return { ...files, sha, programName: name }
}

function findName(
  { wish }: Pick<GroupRecord, 'wish'>,
  { sha, naming }: { readonly sha: string; readonly naming: Naming },
  placements: readonly PlacementRecord[],
): string | undefined {
  if (naming === 'new') return undefined
  if (naming === 'kept') return wish?.sha === sha ? wish.programName : undefined
  // A name that every cache has discarded may linger there with the requests that it still serves.
  const earlier = { name: naming.earlier, sha }
  const isLoaded = placements.some(({ current, previous }) =>
    [current, previous].some((program) => isSameLoad(program, earlier)),
  )
  return isLoaded ? naming.earlier : undefined
}

function isNamed(wish: WishedSources, naming: Exclude<Naming, string>): boolean {
  return wish.programName === naming.earlier
}
