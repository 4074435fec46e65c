/** Reads that callers share, on each database. */
import type { CompiledQuery } from 'kysely'
import type { Test } from 'tap'
import { gatherReads } from '../../../src/coordinator/store/gathered-reads.js'
import { listTexts } from '../../../src/coordinator/store/given-rows.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import { addTag } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const readTags = gatherReads(
  (queries) => queries.selectFrom('tags').select(['id', 'name']).where('name', 'in', listTexts([])),
  ({ name }) => name,
)

export function gatheredReadsContract(t: Test, factory: StoreFactory): void {
  void t.test('reads at the same time share a statement, and each gets its own rows', async (t) => {
    const { queries } = await factory.open(t)
    const names = Array.from({ length: 300 }, (_, at) => `tag "${at}" \u{1F600}`)
    const ids: number[] = []
    for (const name of names) ids.push(await addTag(queries, name))
    const { counted, count } = countStatements(queries)

    const found = await Promise.all(
      [...names, 'none', names[0]].map((name) => readTags(counted, name ?? '')),
    )

    t.strictSame(found, [
      ...names.map((name, at) => [{ id: ids[at], name }]),
      [],
      [{ id: ids[0], name: names[0] }],
    ])
    t.equal(count(), 2, 'at most 256 keys each')
  })

  void t.test('a read in a transaction sees what the transaction wrote', async (t) => {
    const store = await factory.open(t)
    await store.transaction(async (queries) => {
      const id = await addTag(queries, 'mine')
      t.strictSame(await readTags(queries, 'mine'), [{ id, name: 'mine' }])
    })
  })
}

function countStatements(queries: Queries) {
  let statements = 0
  const counted = {
    isTransaction: false,
    getExecutor: () => queries.getExecutor(),
    selectFrom: (table: 'tags') => queries.selectFrom(table),
    executeQuery: <Row>(query: CompiledQuery<Row>) => {
      statements += 1
      return queries.executeQuery(query)
    },
  } as unknown as Queries // all that prepared queries use
  return { counted, count: () => statements }
}
