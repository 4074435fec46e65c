/** Console groups are read-only as VCL groups: they are changed in the console API (docs/behaviour.md, Console groups). */
import { FleetError } from '../../errors.js'
import type { Route } from '../http/route.js'
import type { GroupRecord } from '../fleet/group-queries.js'

/** Wraps the routes of VCL groups: a write or a verb on a console group is a conflict. */
export function refuseConsoleGroups(routes: readonly Route[]): readonly Route[] {
  return routes.map((one) =>
    one.method === 'GET' || !one.find
      ? one
      : {
          ...one,
          handle: async (call) => {
            refuseConsoleGroup(call.object as GroupRecord, one) // set by findGroup
            return one.handle(call)
          },
        },
  )
}

/** Throws 'conflict'. */
export function refuseConsoleGroup(
  { console }: GroupRecord,
  { errorKey }: Pick<Route, 'errorKey'>,
): void {
  if (console)
    throw new FleetError(
      'conflict',
      errorKey,
      'it is a group of the console: it is changed there (/api/v1/group), and only read here',
    )
}
