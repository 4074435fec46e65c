/** The groups of a frozen organization do not change, unless an administrator forces it (docs/behaviour.md, Freeze). */
import { Type } from 'typebox'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Call } from '../http/route.js'
import { isAdministratorOf, describeFreeze, readFreeze, refuseFrozen } from './freeze.js'
import type { StateService } from '../service.js'

/** A query key of every call that is refused while frozen. */
export const forceKey = {
  force: Type.Optional(
    Type.Boolean({ description: 'Also while the organization is frozen; for administrators' }),
  ),
}

interface ChangedGroup {
  readonly organizationId: number | null
  readonly name: string
}

/** Returns the query. Throws 'conflict', or 'forbidden' if the caller may not force it. The API log records what was forced. */
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
  if (!isAdministratorOf(actor, organizationId))
    throw new FleetError(
      'forbidden',
      errorKey,
      `${describeFreeze(frozen)}; only an administrator can override it`,
    )
  note({ warning: `forced on group ${JSON.stringify(name)}, though ${describeFreeze(frozen)}` })
  // Without `replace`, `force` concerns only the freeze.
  return replace ? query : { ...query, force: undefined }
}
