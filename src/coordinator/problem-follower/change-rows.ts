/** Writes the rows of open problems: one type at a time, in sets. */
import { groupBy } from '../../group-by.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'
import type { ProblemRow, RowPlan } from './plan-rows.js'

/** A row has twelve parameters. */
const rowsAtOnce = 500

export async function saveRows(queries: Queries, { save, remove }: RowPlan): Promise<void> {
  await inPieces(
    save,
    async (piece) => {
      await queries
        .insertInto('openProblems')
        .values(piece)
        .onConflict((conflict) =>
          conflict.columns(['objectType', 'objectId', 'code']).doUpdateSet((e) => ({
            organizationId: e.ref('excluded.organizationId'),
            objectName: e.ref('excluded.objectName'),
            severity: e.ref('excluded.severity'),
            since: e.ref('excluded.since'),
            data: e.ref('excluded.data'),
            sharedData: e.ref('excluded.sharedData'),
            endedAt: e.ref('excluded.endedAt'),
          })),
        )
        .execute()
      return []
    },
    rowsAtOnce,
  )
  await removeRows(queries, remove)
}

export async function removeRows(queries: Queries, rows: readonly ProblemRow[]): Promise<void> {
  for (const alike of groupAlike(rows))
    await queries
      .deleteFrom('openProblems')
      .where('objectType', '=', alike.objectType)
      .where('code', '=', alike.code)
      .where('objectId', 'in', alike.ids)
      .execute()
}

export async function markPublished(queries: Queries, rows: readonly ProblemRow[]): Promise<void> {
  for (const alike of groupAlike(rows))
    await queries
      .updateTable('openProblems')
      .set({ told: 1 })
      .where('objectType', '=', alike.objectType)
      .where('code', '=', alike.code)
      .where('objectId', 'in', alike.ids)
      .execute()
}

function groupAlike(rows: readonly ProblemRow[]) {
  const groups = groupBy(rows, ({ objectType, code }) => `${objectType} ${code}`)
  return [...groups.values()].flatMap((alike) => {
    const [first] = alike
    if (!first) return []
    const { objectType, code } = first
    return [{ objectType, code, ids: alike.map(({ objectId }) => objectId) }]
  })
}
