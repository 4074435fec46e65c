/** While an organization is frozen its groups stay as they are, unless an administrator forces it (docs/behaviour.md, Freeze). */
import { FleetError } from '../../errors.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { Call } from '../http/route.js'
import { administrates, describeFreeze, readFreeze, refuseFrozen } from '../identity/freeze.js'
import type { StateService } from '../service.js'

/** Answers the query; throws 'conflict', or 'forbidden' for whoever may not force it. What was forced is in the api log. */
export async function requireThawed<Query>(
  service: StateService,
  {
    actor,
    object,
    query,
    note,
  }: Pick<Call<unknown, Query, GroupRecord>, 'actor' | 'object' | 'query' | 'note'>,
): Promise<Query> {
  const { organizationId, name } = object
  const frozen = await readFreeze(service.store.queries, organizationId, service.now())
  if (frozen === null) return query
  const { force = false, replace = false } = query as {
    readonly force?: boolean
    readonly replace?: boolean
  }
  if (!force) throw refuseFrozen(frozen)
  if (!administrates(actor, organizationId))
    throw new FleetError(
      'forbidden',
      'deploy',
      `${describeFreeze(frozen)}; only an administrator forces it`,
    )
  note({ warning: `forced on group ${JSON.stringify(name)}, though ${describeFreeze(frozen)}` })
  // It is about the freeze, where nobody is replaced.
  return replace ? query : { ...query, force: undefined }
}
