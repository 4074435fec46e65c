/** What every store must do, run for each database: recall, transactions. How it keeps rows: `rows.contract.ts`. */
import { sql } from 'kysely'
import type { Test } from 'tap'
import { FleetError } from '../../../src/errors.js'
import { prepareGiven } from '../../../src/coordinator/store/given-rows.js'
import type { Queries, Store } from '../../../src/coordinator/store/store.js'
import { eventually } from '../../support/eventually.js'
import { addTag } from './rows.js'

export interface StoreFactory {
  /** An empty store of its own, closed when the test ends. */
  open(t: Test): Promise<Store>
}

export function storeContract(t: Test, factory: StoreFactory): void {
  void t.test('reports when it cannot be written, and when it can again', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    await queries.schema.alterTable('leases').renameTo('leases_away').execute()
    await store.check()
    await t.rejects(store.checkWrites())
    await queries.schema.alterTable('leases_away').renameTo('leases').execute()
    await t.rejects(store.checkWrites(), 'it is not retried on each call')
    await eventually('it can be written', () =>
      store.checkWrites().then(
        () => true,
        () => false,
      ),
    )
  })

  void t.test('recalled data is never older than the last write', async (t) => {
    const store = await factory.open(t)
    const { queries, recall } = store
    const readNames = async (): Promise<string[]> => {
      const rows = await queries.selectFrom('tags').select('name').orderBy('id').execute()
      return rows.map(({ name }) => name)
    }
    const ask = () => recall({ key: 'names', rows: 1 }, readNames)
    const seen: string[][] = [await ask()]

    await addTag(queries, 'a')
    seen.push(await ask(), await ask())
    const writing = store.transaction(async (inside) => {
      await addTag(inside, 'b')
      await addTag(inside, 'c')
    })
    const meanwhile = ask()
    await writing
    seen.push(await ask())
    await queries.updateTable('tags').set({ name: 'A' }).where('name', '=', 'a').execute()
    seen.push(await ask())
    await t.rejects(
      store.transaction(async (inside) => {
        await addTag(inside, 'd')
        throw new Error('no')
      }),
    )
    seen.push(await ask())

    t.strictSame(seen, [[], ['a'], ['a'], ['a', 'b', 'c'], ['A', 'b', 'c'], ['A', 'b', 'c']])
    t.ok([1, 3].includes((await meanwhile).length), 'a transaction is seen whole or not at all')
    const failing = recall({ key: 'x', rows: 1 }, () => Promise.reject(new Error('once')))
    await t.rejects(failing, { message: 'once' })
    t.equal(await recall({ key: 'x', rows: 1 }, () => Promise.resolve(7)), 7)
  })

  void t.test('keeps the result of every interleaved decision', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    await queries.insertInto('settings').values({ name: 'count', value: '0' }).execute()

    await Promise.all(
      Array.from({ length: 26 }, (_, at) => store.decide(countOne, { durable: at % 2 === 0 })),
    )

    t.equal(await readCount(queries), 26)
  })

  void t.test('lets decisions, transactions and single queries run side by side', async (t) => {
    const store = await factory.open(t)
    await store.queries.insertInto('settings').values({ name: 'count', value: '0' }).execute()

    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        if (at % 3 === 0) await store.decide(countOne)
        else if (at % 3 === 1)
          await store.transaction((queries) => addTag(queries, `tag-${at}`).then(() => undefined), {
            durable: at % 2 === 0,
          })
        else await addTag(store.queries, `tag-${at}`)
      }),
    )

    t.equal(await readCount(store.queries), 20)
    t.equal((await store.queries.selectFrom('tags').select('id').execute()).length, 40)
  })

  for (const kind of ['transaction', 'decide'] as const) {
    void t.test(
      `${kind} keeps nothing when its work throws, and throws that same error`,
      async (t) => {
        const store = await factory.open(t)
        const refused = new FleetError('conflict', 'tag', 'not this one')

        const failing = store[kind](async (queries) => {
          await addTag(queries, 'one')
          throw refused
        })

        await t.rejects(failing, refused)
        t.strictSame(await store.queries.selectFrom('tags').selectAll().execute(), [])
        t.ok(await addTag(store.queries, 'after'))
      },
    )

    void t.test(`${kind} refuses what would wait for itself, and the store works on`, async (t) => {
      const store = await factory.open(t)
      const inner: Record<string, () => Promise<unknown>> = {
        'a query of the store': () => addTag(store.queries, 'inner'),
        'a transaction': () => store.transaction((queries) => addTag(queries, 'inner')),
        'a decision': () => store.decide((queries) => addTag(queries, 'inner')),
      }

      for (const [name, work] of Object.entries(inner))
        await t.rejects(store[kind](work), { message: /would wait for ever/ }, name)

      t.ok(await addTag(store.queries, 'after'))
      t.equal((await store.queries.selectFrom('tags').select('id').execute()).length, 1)
    })
  }

  void t.test('work that outlives its transaction is not blocked', async (t) => {
    const store = await factory.open(t)
    let endWaiting: () => void = () => undefined
    const ended = new Promise<void>((resolve) => (endWaiting = resolve))
    let left: Promise<number> = Promise.resolve(0)

    await store.transaction(async (queries) => {
      left = ended.then(() => addTag(store.queries, 'outside'))
      await addTag(queries, 'inside')
    })
    endWaiting()

    t.ok((await left) > 0)
  })

  void t.test(
    'given rows keep their order and text; half a surrogate pair is replaced',
    async (t) => {
      const { queries } = await factory.open(t)
      const texts = ['a', null, '\ud83d', '\\ud83d', '"😀"', 'b\ude00\n']

      const rows = await echoTexts(
        queries,
        texts.map((text, place) => ({ place, text })),
      )
      t.same(
        rows.map(({ text }) => text),
        ['a', null, '\ufffd', '\\ud83d', '"😀"', 'b\ufffd\n'],
      )
      const many = Array.from({ length: 2_500 }, (_, place) => ({ place, text: String(place) }))
      t.same(
        (await echoTexts(queries, many)).map(({ text }) => text),
        many.map(({ text }) => text),
      )
    },
  )

  void t.test('passes its check, and fails it once closed', async (t) => {
    const store = await factory.open(t)
    await store.check()
    await store.close()

    await t.rejects(store.check())
  })
}

const echoTexts = prepareGiven(
  { place: 'bigint', text: 'text' },
  ({ place, text, from }) => sql<{ text: string | null }>`select ${text} ${from} order by ${place}`,
)

async function countOne(queries: Queries): Promise<void> {
  const count = await readCount(queries)
  await queries.selectFrom('tags').selectAll().execute()
  await queries
    .updateTable('settings')
    .set({ value: String(count + 1) })
    .where('name', '=', 'count')
    .execute()
}

async function readCount(queries: Queries): Promise<number> {
  const row = await queries
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'count')
    .executeTakeFirstOrThrow()
  return Number(row.value)
}
