/** The invalidation log in a store: its order, which agents are done with what, and what is deleted. */
import type { Test } from 'tap'
import type {
  InvalidationContent,
  InvalidationOutcome,
  Coverage,
} from '../../../src/coordinator/invalidations/invalidation.js'
import {
  endWhatIsDone,
  moveCursors,
  readCursor,
  readLogAfter,
  readLogEnd,
  readLogOfAgent,
} from '../../../src/coordinator/invalidations/delivery-queries.js'
import {
  appendInvalidation,
  deleteEndedBefore,
  endInvalidation,
  findInvalidation,
  hasOpen,
} from '../../../src/coordinator/invalidations/invalidation-queries.js'
import {
  deleteUnusedSet,
  keepSet,
  readNamedAgents,
  readSets,
  readTargetAgents,
} from '../../../src/coordinator/invalidations/target-queries.js'
import type { Store } from '../../../src/coordinator/store/store.js'
import { updateRow } from '../../../src/coordinator/store/write-rows.js'
import { addAgent } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const at = Date.UTC(2026, 0, 2)
const all: Coverage = { groups: null }
const content: InvalidationContent = {
  type: 'ban',
  expressions: [[{ field: 'req.url', operator: '~', value: 'é"\\' }]],
}

export function invalidationsContract(t: Test, factory: StoreFactory): void {
  void t.test('positions are committed in order, however many append at once', async (t) => {
    const store = await factory.open(t)
    const agentId = await addAgent(store.queries, 'edge')
    const seen: number[] = []
    const state = { isAppending: true }
    const reading = (async () => {
      while (state.isAppending || seen.length < 60) {
        const page = await readLogAfter(store.queries, seen.at(-1) ?? 0, 10)
        seen.push(...page.map(({ position }) => position))
      }
    })()

    await Promise.all(Array.from({ length: 60 }, () => append(store, [agentId])))
    state.isAppending = false
    await reading

    t.same(
      seen,
      Array.from({ length: 60 }, (_, index) => index + 1),
    )
    const own = await readLogOfAgent(store.queries, agentId, 57, 10)
    t.same(
      own.map(({ position }) => position),
      [58, 59, 60],
    )
    t.match(own[0], { content, attemptSetId: own[1]?.attemptSetId }, 'the same agents, one set')
    t.same(await readLogOfAgent(store.queries, agentId + 1, 0, 10), [])
  })

  void t.test(
    'an entry ends when all cursors have passed it, and cursors never go back',
    async (t) => {
      const store = await factory.open(t)
      const { queries } = store
      const [one, two] = [await addAgent(queries, 'one'), await addAgent(queries, 'two')]
      const both = [await append(store, [one, two]), await append(store, [one, two])]
      const alone = await append(store, [one])
      const addPerson = (agentId: number, position: number, trouble: string | null = null) =>
        moveCursors(queries, [{ agentId, position, trouble }], at)

      const endAll = async () => (await endWhatIsDone(queries, null, at)).map(({ id }) => id)

      await addPerson(one, 3)
      t.same(await endAll(), [alone])
      await addPerson(two, 1)
      await addPerson(two, 0, 'no connection')
      t.match(await readCursor(queries, two), { position: 1, trouble: 'no connection' })
      t.same(await endAll(), [both[0]])
      t.match(await findInvalidation(queries, { kind: 'all' }, both[0] ?? 0), { outcome: 2 })

      await queries.deleteFrom('agents').where('id', '=', two).execute()
      t.same(await endAll(), [both[1]], 'deleted agents are not waited for')
      await moveCursors(queries, [{ agentId: two, position: 9, trouble: null }], at)
      t.equal(await readCursor(queries, two), undefined)

      const orphan = await append(store, [await addAgent(queries, 'three')])
      await queries.deleteFrom('agents').where('name', '=', 'three').execute()
      t.same(await endAll(), [orphan])
      t.notOk(await hasOpen(queries, 1))
    },
  )

  void t.test(
    'the agents of a target are up to date, and one list while they are unchanged',
    async (t) => {
      const store = await factory.open(t)
      const { queries } = store
      const read = () => readTargetAgents(queries, { kind: 'all' }, {})
      t.same(await read(), [])
      const ids = [await addAgent(queries, 'b ü'), await addAgent(queries, 'a')]
      const before = await read()
      t.same(
        before.map(({ id, name }) => [id, name]),
        [
          [ids[0], 'b ü'],
          [ids[1], 'a'],
        ],
      )
      t.equal(await read(), before)
      const named = await readNamedAgents(queries, { kind: 'all' }, ids)
      t.match(named, before)
      await updateRow(queries, 'agents', ids[1] ?? 0, { state: 1, capabilities: '["command"]' })
      t.match((await read())[1], { name: 'a', state: 1, capabilities: ['command'] })
    },
  )

  void t.test('ended entries are deleted in time, and sets with their last entry', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const agentId = await addAgent(queries, 'edge')
    const [old, open] = [await append(store, [agentId]), await append(store, [])]
    t.same([await hasOpen(queries, 2), await hasOpen(queries, 3)], [true, false])
    await endInvalidation(queries, old, 3, at)
    t.same([await hasOpen(queries, 1), await hasOpen(queries, 2)], [true, false])

    t.equal(await deleteEndedBefore(queries, at, 10), 0)
    t.equal(await deleteEndedBefore(queries, at + 1, 10), 1)
    const sets = await queries.selectFrom('invalidationSets').select('id').orderBy('id').execute()
    t.ok(await deleteUnusedSet(queries))
    t.notOk(await deleteUnusedSet(queries))
    const left = await queries.selectFrom('invalidationSets').select('id').execute()
    t.same(left, sets.slice(1))
    t.same((await readSets(queries, [left[0]?.id ?? 0])).size, 1)
    t.ok(await findInvalidation(queries, { kind: 'all' }, open))
    t.equal(await append(store, [agentId], 2), open + 1)
    t.equal(await readLogEnd(queries), 3, 'a position is not reused')
  })
}

function append(
  store: Store,
  agentIds: readonly number[],
  outcome: InvalidationOutcome | null = null,
): Promise<number> {
  return store.decide(async (queries) => {
    const setId = await keepSet(
      queries,
      agentIds.map((agentId) => ({ agentId, coverage: all })),
    )
    return appendInvalidation(queries, {
      content,
      setId,
      attemptSetId: setId,
      outcome,
      createdAt: at,
      ttlSeconds: 60,
      target: { all: true },
      warnings: [],
      account: 'root',
      traceId: 'trace-of-test',
      organizationId: null,
    })
  })
}
