/** SQLite runs in the thread of the event loop: long transactions and lists must not block everything else. */
import { sql } from 'kysely'
import { pino } from 'pino'
import t from 'tap'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { addTag } from './rows.js'

const log = pino({ level: 'silent' })

void t.test('the event loop runs during a long transaction', async (t) => {
  const store = await openStore('sqlite::memory:', log)
  t.teardown(() => store.close())
  const transactionMs = 100

  const turns = await countTurns(() =>
    store.decide(async (queries) => {
      const startedAt = performance.now()
      while (performance.now() - startedAt < transactionMs)
        await queries.selectFrom('tags').select('id').execute()
    }),
  )

  t.ok(turns >= 3, `${turns} turns of the event loop`)
})

void t.test(
  'the event loop runs while a long list is read, and a write waits for its end',
  async (t) => {
    const store = await openStore('sqlite::memory:', log)
    t.teardown(() => store.close())
    const count = 300_000
    const events: string[] = []

    const turns = await countTurns(async () => {
      const reading = countTo(count)
        .execute(store.queries)
        .finally(() => events.push('read'))
      const writing = store
        .transaction((queries) => addTag(queries, 'later'))
        .finally(() => events.push('written'))
      const { rows } = await reading
      await writing
      t.equal(rows.length, count)
      t.same(rows.at(-1), { n: count })
    })

    t.ok(turns >= 3, `${turns} turns of the event loop`)
    t.same(events, ['read', 'written'])
  },
)

void t.test('a list that fails on the way is refused whole, and the store goes on', async (t) => {
  const store = await openStore('sqlite::memory:', log)
  t.teardown(() => store.close())

  const failing = sql`select json(case when n = 5000 then '[' else '[]' end) from (${countTo(10_000)})`
  await t.rejects(failing.execute(store.queries), { message: /malformed JSON/ })
  await t.rejects(
    store.transaction((queries) => failing.execute(queries)),
    { message: /malformed JSON/ },
  )

  await store.transaction((queries) => addTag(queries, 'after'))
  t.equal((await countTo(3).execute(store.queries)).rows.length, 3)
})

void t.test('a transaction that fails while it reads a list is rolled back whole', async (t) => {
  const store = await openStore('sqlite::memory:', log)
  t.teardown(() => store.close())

  const half = store.transaction(async (queries) => {
    await addTag(queries, 'half')
    const failing = sql`select json('[')`
    await Promise.all([failing.execute(queries), countTo(300_000).execute(queries)])
  })
  await t.rejects(half, { message: /malformed JSON/ })

  await store.transaction((queries) => addTag(queries, 'after'))
  const tags = await store.queries.selectFrom('tags').select('name').execute()
  t.same(tags, [{ name: 'after' }])
})

function countTo(count: number) {
  return sql<{ readonly n: number }>`with recursive numbers(n) as
    (select 1 union all select n + 1 from numbers where n < ${count}) select n from numbers`
}

/** Returns how often the event loop ran during this work. */
async function countTurns(work: () => Promise<void>): Promise<number> {
  let turns = 0
  let isOver = false
  const countTurn = (): void => {
    turns += 1
    if (!isOver) setImmediate(countTurn)
  }
  setImmediate(countTurn)
  await work()
  isOver = true
  return turns
}
