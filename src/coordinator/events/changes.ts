/** Changes that are not recorded as events yet. Triggers write them (store/tables/triggers.ts). */
import type { ChangeKind } from '../../resources/event.js'
import { groupBy } from '../../group-by.js'
import { listIds, writeIds } from '../store/given-rows.js'
import { prepareQuery } from '../store/prepared-query.js'
import type { Queries } from '../store/store.js'

export interface ChangeRow {
  readonly id: number
  readonly kind: ChangeKind
  readonly objectId: number
  readonly deleted: boolean
  /** Of a deleted object. */
  readonly organizationId: number | null
}

export async function hasChanges(queries: Queries): Promise<boolean> {
  return (await findAny(queries, [1])).length > 0
}

const findAny = prepareQuery((queries) => queries.selectFrom('changes').select('id').limit(1))

/**
 * Returns the changes of the objects that changed first, at most `limit` objects. Call after `lockEventCounter`, so that no other
 * coordinator takes them, and read the objects afterwards, so that they are at least as new as the changes.
 */
export async function takeChanges(queries: Queries, limit: number): Promise<ChangeRow[]> {
  const oldest = await selectOldest(queries, [limit])
  const taken: ChangeRow[] = []
  for (const [kind, rows] of groupBy(oldest, (row) => row.kind)) {
    const ids = [...new Set(rows.map(({ objectId }) => objectId))]
    const listed = writeIds(ids)
    // A group has a change for each of its placements: in pieces, since each statement holds up the event loop.
    for (let isLeft = true; isLeft;) {
      const deleted = await deleteOf(queries, [kind, listed, deletedAtOnce])
      taken.push(...deleted.map((row) => ({ ...row, deleted: row.deleted === 1 })))
      isLeft = deleted.length === deletedAtOnce
    }
  }
  return taken.toSorted((a, b) => a.id - b.id)
}

const selectOldest = prepareQuery((queries) =>
  queries.selectFrom('changes').select(['kind', 'objectId']).orderBy('id').limit(1),
)

const deletedAtOnce = 500

const deleteOf = prepareQuery((queries) =>
  queries
    .deleteFrom('changes')
    .where('id', 'in', (expressions) =>
      expressions
        .selectFrom('changes')
        .select('id')
        .where('kind', '=', 'agent')
        .where('objectId', 'in', listIds([]))
        .limit(1),
    )
    .returningAll(),
)
