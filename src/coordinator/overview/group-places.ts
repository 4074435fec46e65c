/** Reads which caches serve which groups. */
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

/** Omits stages. */
export function readServingPlaces(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('placements')
    .select(['groupId', 'agentId'])
    .where(within(scope, 'placements'))
    .where('stage', '=', 0)
    .where('currentName', 'is not', null)
    .execute()
}
