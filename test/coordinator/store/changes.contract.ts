/** Changes that wait to be recorded as events: those of one object are taken together, however many. */
import type { Test } from 'tap'
import { takeChanges } from '../../../src/coordinator/events/changes.js'
import { groupBy } from '../../../src/group-by.js'
import type { StoreFactory } from './store.contract.js'

export function changesContract(t: Test, factory: StoreFactory): void {
  void t.test('all changes of the objects that changed first are taken, in order', async (t) => {
    const store = await factory.open(t)
    const rows = Array.from({ length: 1_200 }, (_, at) => ({
      kind: 'group' as const,
      objectId: at < 1_150 ? 1 : 2,
    }))
    const taken = await store.transaction(async (queries) => {
      await queries.deleteFrom('changes').execute()
      for (let at = 0; at < rows.length; at += 100)
        await queries
          .insertInto('changes')
          .values(rows.slice(at, at + 100))
          .execute()
      await queries
        .insertInto('changes')
        .values({ kind: 'tag', objectId: 1, deleted: 1, organizationId: null })
        .execute()
      return [await takeChanges(queries, 200), await takeChanges(queries, 200)] as const
    })
    const count = (changes: (typeof taken)[0]): unknown =>
      [...groupBy(changes, ({ kind, objectId, deleted }) => `${kind} ${objectId} ${deleted}`)].map(
        ([object, of]) => [object, of.length],
      )
    t.strictSame(taken.map(count), [
      [['group 1 false', 1_150]],
      [
        ['group 2 false', 50],
        ['tag 1 true', 1],
      ],
    ])
    const ids = taken[0].map(({ id }) => id)
    t.strictSame(
      ids,
      ids.toSorted((a, b) => a - b),
    )
  })
}
