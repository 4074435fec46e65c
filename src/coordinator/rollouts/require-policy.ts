/** Completes the policy that a caller gives, and checks that its owner may use the tags, agents and webhooks in it. */
import type { ErrorKey } from '../../errors.js'
import type { GivenPolicy, RolloutPolicy } from '../../resources/rollout.js'
import { requireAll } from '../api/find-references.js'
import { isUsableBy, readFleet } from '../fleet/fleet.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import { scopeOfOwner } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { readUsableIds } from '../store/owner.js'
import { completePolicy } from './policy.js'

interface PolicyOf {
  readonly organizationId: number | null
  readonly errorKey: ErrorKey
  /** The domain names of the group; none: it is a root group. */
  readonly fqdns: readonly string[]
}

/** Throws 'invalid', naming the key. */
export async function requirePolicy(
  queries: Queries,
  given: GivenPolicy | null,
  { organizationId, errorKey, fqdns }: PolicyOf,
): Promise<RolloutPolicy | null> {
  if (given === null) return null
  const policy = completePolicy(given, { errorKey, fqdns })
  for (const [at, { tags, agents }] of policy.waves.entries()) {
    const where = `rollout.waves[${at}]`
    if (tags)
      await requireAll(tags, `${where}.tags`, errorKey, (ids) =>
        readUsableTagIds(queries, organizationId, ids),
      )
    if (agents)
      await requireAll(agents, `${where}.agents`, errorKey, async (ids) => {
        const fleet = await readFleet(queries, scopeOfOwner(organizationId))
        const usable = fleet.filter((agent) => isUsableBy(organizationId, agent))
        const known = new Set(usable.map(({ id }) => id))
        return ids.filter((id) => known.has(id))
      })
  }
  const asked = policy.gates.flatMap(({ webhook }) => webhook ?? [])
  await requireAll(asked, 'rollout.gates: webhook', errorKey, (ids) =>
    readUsableIds(queries, 'webhooks', organizationId, ids),
  )
  return policy
}
