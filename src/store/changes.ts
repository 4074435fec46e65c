/** What changed and was not told yet. Triggers write it (migrations/0020-events.ts). */
import type { ChangeKind } from '../domain/event.js'
import type { Queries } from './store.js'

export interface ChangeRow {
  readonly id: number
  readonly kind: ChangeKind
  readonly objectId: number
  readonly deleted: boolean
  /** Of what was deleted. */
  readonly organizationId: number | null
}

export async function hasChanges(queries: Queries): Promise<boolean> {
  const row = await queries.selectFrom('changes').select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** The oldest; call after `lockEventCounter`, so that nobody else takes them too. */
export async function takeChanges(queries: Queries, limit: number): Promise<ChangeRow[]> {
  const rows = await queries.selectFrom('changes').selectAll().orderBy('id').limit(limit).execute()
  if (rows.length > 0)
    await queries
      .deleteFrom('changes')
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .execute()
  return rows.map((row) => ({ ...row, deleted: row.deleted === 1 }))
}
