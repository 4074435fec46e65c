/** What is recalled, and which writes count for whom. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { createWriteCount } from '../../../src/coordinator/store/read-memory.js'
import type { Queries, Store } from '../../../src/coordinator/store/store.js'
import { addAgent, addTag } from './rows.js'

const log = pino({ level: 'silent' })

/** Two stores on one file, as two processes have it. */
async function openTwice(t: Test): Promise<readonly [Store, Store]> {
  const folder = mkdtempSync(join(tmpdir(), 'cachefleet-recall-'))
  const url = `sqlite:${join(folder, 'coordinator.db')}`
  const stores = [await openStore(url, log), await openStore(url, log)] as const
  t.teardown(async () => {
    for (const store of stores) await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return stores
}

void t.test(
  'a write of another process during a transaction for one agent counts for all',
  async (t) => {
    let others = 1
    const writes = createWriteCount(() => others)
    const before = [writes.generation(1), writes.generation(2), writes.generation()]

    await writes.within([1], async () => {
      writes.note()
      others += 1
      await nextTurn()
      t.not(writes.generation(2), before[1])
    })

    t.not(writes.generation(1), before[0])
    t.not(writes.generation(), before[2])
  },
)

void t.test('when writes of too many agents would be told apart, one counts for all', async (t) => {
  const writes = createWriteCount(() => 1)
  const write = (agents: readonly number[]) =>
    writes.within(agents, () => {
      writes.note()
      return Promise.resolve()
    })
  const all = Array.from({ length: 10_000 }, (_, at) => at + 2)
  const other = writes.generation(1)

  await write(all)
  t.equal(writes.generation(1), other)
  await write([2])
  t.not(writes.generation(1), other)
})

void t.test('recalled data is read once, until this process or another writes', async (t) => {
  const [store, other] = await openTwice(t)
  let readings = 0
  const count = async (): Promise<number> => {
    readings += 1
    return (await store.queries.selectFrom('tags').select('id').execute()).length
  }
  const ask = () => store.recall({ key: 'count', rows: 1 }, count)

  t.strictSame(await Promise.all([ask(), ask()]), [0, 0])
  t.equal(await ask(), 0)
  t.equal(readings, 1)
  await addTag(store.queries, 'own')
  t.strictSame([await ask(), await ask(), readings], [1, 1, 2])
  await addTag(other.queries, 'foreign')
  await nextTurn()
  t.strictSame([await ask(), await ask(), readings], [2, 2, 3])
  await store.recall({ key: 'many', rows: 2_000 }, () => Promise.resolve())
  t.strictSame([await ask(), readings], [2, 4], 'the memory is bounded')
})

void t.test(
  'what a transaction for certain agents writes leaves what was recalled of others',
  async (t) => {
    const [store, other] = await openTwice(t)
    const ids = [await addAgent(store.queries, 'a'), await addAgent(store.queries, 'b')]
    const readings: string[] = []
    const recall = (key: string, agentId?: number) =>
      store.recall({ key, rows: 1, ...(agentId !== undefined && { agentId }) }, async () => {
        readings.push(key)
        return store.queries.selectFrom('agents').select(['name', 'hostName']).execute()
      })
    const recallAll = async (): Promise<string[]> => {
      await Promise.all([recall('a', ids[0]), recall('b', ids[1]), recall('list')])
      return readings.splice(0)
    }
    const setHost = (queries: Queries, id: number | undefined, hostName = 'h') =>
      queries
        .updateTable('agents')
        .set({ hostName })
        .where('id', '=', id ?? 0)
        .execute()
    t.strictSame(await recallAll(), ['a', 'b', 'list'])
    t.strictSame(await recallAll(), [])

    await store.transaction((queries) => setHost(queries, ids[1]), { agents: ids.slice(1) })
    t.strictSame(await recallAll(), ['b', 'list'])
    t.match(await recall('b', ids[1]), [{}, { hostName: 'h' }])
    await setHost(other.queries, ids[1], 'i')
    await nextTurn()
    t.strictSame(await recallAll(), ['a', 'b', 'list'], 'another process changes anything')
    await setHost(store.queries, ids[0])
    t.strictSame(await recallAll(), ['a', 'b', 'list'], 'so does a write without a transaction')
    await store.transaction((queries) => setHost(queries, ids[0]))
    t.strictSame(await recallAll(), ['a', 'b', 'list'], 'and a transaction that names no agents')
  },
)
