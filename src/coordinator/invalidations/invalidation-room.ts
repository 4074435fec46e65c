/** Limits of open invalidations: per organization, and in all. */
import { describeFullQuota, describeFullShare, hasFairRoom } from '../../resources/quota.js'
import { FleetError } from '../../errors.js'
import { countOpenOf, hasOpen } from './invalidation-queries.js'
import { readQuotas } from '../store/quotas.js'
import type { Queries } from '../store/store.js'

/** A store can hold this many at about 10 kB each. */
const total = 100_000
const shared = total * 0.9
/** Entries end when agents have completed them, or when their ttl has passed. */
const retryAfterSeconds = 60

/** Checks the limits for one more entry, under the decision lock. `owner` null is the system administrator. Throws 'limited'. */
export async function requireInvalidationRoom(
  queries: Queries,
  owner: number | null,
): Promise<void> {
  if (await hasOpen(queries, total))
    throw limited(`${total} invalidations wait for agents already; cancel some`)
  const organization = owner === null ? undefined : await readQuotas(queries, owner)
  if (owner === null || !organization) return
  const { name, quotas } = organization
  const held = await countOpenOf(queries, owner)
  if (held >= quotas.invalidations)
    throw limited(describeFullQuota(name, 'invalidations', quotas.invalidations))
  // Counts exactly only near the limit.
  const used = (await hasOpen(queries, shared)) ? shared : 0
  if (!hasFairRoom({ total, used, held, wanted: 1 }))
    throw limited(describeFullShare(name, `the ${total} open invalidations of this store`))
}

function limited(message: string): FleetError {
  return new FleetError('limited', 'invalidation', message, { retryAfterSeconds })
}
