/** The names of the groups that a caller may read, by id, for showing traffic. */
import { may, type Actor } from '../../resources/permission.js'
import { selectGroupIds } from '../fleet/group-queries.js'
import { scopeOf, type StateService } from '../service.js'

export async function nameGroups(
  { store }: StateService,
  actor: Actor,
): Promise<ReadonlyMap<number, string>> {
  if (!may(actor, 'vclgroup', 'read')) return new Map()
  const rows = await selectGroupIds(store.queries, scopeOf(actor))
    .clearSelect()
    .select(['vclGroups.id', 'vclGroups.name'])
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
