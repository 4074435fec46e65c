/** SQLite runs in the thread of the event loop: a long transaction must not block everything else. */
import { pino } from 'pino'
import t from 'tap'
import { openStore } from '../../../src/coordinator/store/open-store.js'

void t.test('the event loop runs during a long transaction', async (t) => {
  const store = await openStore('sqlite::memory:', pino({ level: 'silent' }))
  t.teardown(() => store.close())
  const transactionMs = 100
  let turns = 0
  let isOver = false
  const countTurn = (): void => {
    turns += 1
    if (!isOver) setImmediate(countTurn)
  }

  await store.decide(async (queries) => {
    const startedAt = performance.now()
    setImmediate(countTurn)
    while (performance.now() - startedAt < transactionMs)
      await queries.selectFrom('tags').select('id').execute()
  })
  isOver = true

  t.ok(turns >= 3, `${turns} turns of the event loop`)
})
