/** While an organization is frozen its groups stay as they are, unless an administrator forces it (docs/behaviour.md, Freeze). */
import { Type } from 'typebox'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Call } from '../http/route.js'
import { administrates, describeFreeze, readFreeze, refuseFrozen } from './freeze.js'
import type { StateService } from '../service.js'

/** Of the query of whatever is refused while frozen. */
export const forceKey = {
  force: Type.Optional(
    Type.Boolean({ description: 'Also while the organization is frozen; for administrators' }),
  ),
}

interface ChangedGroup {
  readonly organizationId: number | null
  readonly name: string
}

/** Answers the query; throws 'conflict', or 'forbidden' for whoever may not force it. What was forced is in the api log. */
export async function requireThawed<Query>(
  service: StateService,
  {
    actor,
    object,
    query,
    note,
  }: Pick<Call<unknown, Query, ChangedGroup>, 'actor' | 'object' | 'query' | 'note'>,
  errorKey: ErrorKey = 'deploy',
): Promise<Query> {
  const { organizationId, name } = object
  const frozen = await readFreeze(service.store.queries, organizationId, service.now())
  if (frozen === null) return query
  const { force = false, replace = false } = query as {
    readonly force?: boolean
    readonly replace?: boolean
  }
  if (!force) throw refuseFrozen(frozen, errorKey)
  if (!administrates(actor, organizationId))
    throw new FleetError(
      'forbidden',
      errorKey,
      `${describeFreeze(frozen)}; only an administrator can override it`,
    )
  note({ warning: `forced on group ${JSON.stringify(name)}, though ${describeFreeze(frozen)}` })
  // It is about the freeze, where nobody is replaced.
  return replace ? query : { ...query, force: undefined }
}
