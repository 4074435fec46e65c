/** Groups of the console among the VCL groups: they are read here, and changed there (docs/behaviour.md, Console groups). */
import { FleetError } from '../../errors.js'
import type { Route } from '../http/route.js'
import type { GroupRecord } from '../fleet/group-queries.js'

/** Routes of one VCL group: a write or a verb on one of the console's is a conflict. */
export function refuseConsoleGroups(routes: readonly Route[]): readonly Route[] {
  return routes.map((one) =>
    one.method === 'GET' || !one.find
      ? one
      : {
          ...one,
          handle: async (call) => {
            refuseConsoleGroup(call.object as GroupRecord, one) // by findGroup
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
