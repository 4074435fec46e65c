/** Heartbeats are stored in rows; run for each database. */
import type { Test } from 'tap'
import {
  createHeartbeatRecorder,
  type RecordedAgent,
} from '../../../src/coordinator/reports/heartbeat.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { everything } from '../../../src/resources/list-query.js'
import { findAgent, selectAgents } from '../../../src/coordinator/fleet/agent-queries.js'
import { agentColumns } from '../../../src/coordinator/fleet/list-columns.js'
import { readListIds } from '../../../src/coordinator/store/list-query.js'
import { addAgent } from '../store/rows.js'
import { eventually } from '../../support/eventually.js'
import { runningCondition } from '../gateway/link-agent.js'
import type { TestService } from '../gateway/service.js'
import { all, delivered, heartbeatMs, watch } from './hints.js'

export async function heartbeatsContract(
  t: Test,
  start: (t: Test) => Promise<TestService>,
): Promise<void> {
  const service = await start(t)
  const { queries } = service.store
  const hinted = watch(service)
  const recorded: RecordedAgent[] = []
  const gone: number[] = []
  const recorder = createHeartbeatRecorder(service, service.log, {
    recorded: (agents) => recorded.push(...agents),
    gone: (ids) => gone.push(...ids),
  })
  const ids: number[] = []
  for (let n = 0; n < 5; n++) ids.push(await addAgent(queries, `agent-${n}`))
  const [first = 0, second = 0] = ids
  const beat = (
    agentId: number,
    changes: Partial<typeof runningCondition> = {},
    isReported = false,
  ) => {
    recorder.record({ agentId, readOnly: false }, { ...runningCondition, ...changes }, isReported)
  }
  const flush = async () => {
    hinted.length = 0
    await recorder.flush()
    await delivered(service)
  }

  await t.test('the newest heartbeats of many agents are written together', async (t) => {
    for (const id of ids) beat(id, { engineState: 'stopped' })
    service.moveClock(100)
    for (const id of ids) beat(id, { effectiveRevision: 3, engineError: `of ${id}` })

    await flush()

    for (const id of ids)
      t.match(await findAgent(queries, all, id), {
        state: agentStates.Running,
        engineError: `of ${id}`,
        effectiveRevision: 3,
        lastHeartbeatAt: service.now(),
      })
    t.same(hinted, [ids])
  })

  await t.test('unchanged heartbeats write no row of an agent and publish no hint', async (t) => {
    const before = await findAgent(queries, all, first)
    const readRows = () => queries.selectFrom('agents').selectAll().orderBy('id').execute()
    const rows = await readRows()
    service.moveClock(heartbeatMs)
    for (const id of ids) beat(id, { effectiveRevision: 3, engineError: `of ${id}` })
    await flush()
    const after = await findAgent(queries, all, first)
    t.equal(after?.lastHeartbeatAt, service.now())
    t.equal(after?.lastStateChangeAt, before?.lastStateChangeAt)
    t.strictSame(await readRows(), rows)
    t.same(hinted, [])
  })

  await t.test('a revision whose report was written changes no row of an agent', async (t) => {
    const readRows = () => queries.selectFrom('agents').selectAll().orderBy('id').execute()
    const revisionOf = async (id: number) => (await findAgent(queries, all, id))?.effectiveRevision
    const rows = await readRows()
    service.moveClock(heartbeatMs)
    recorder.noteWritten([{ id: first, effectiveRevision: 4 }])
    beat(first, { effectiveRevision: 4, engineError: `of ${first}` })
    await flush()
    t.strictSame(await readRows(), rows, 'the report would have written it')
    service.moveClock(heartbeatMs)
    beat(first, { effectiveRevision: 5, engineError: `of ${first}` })
    await flush()
    t.equal(await revisionOf(first), 5, 'no report of this one was written')
    beat(first, { effectiveRevision: 3, engineError: `of ${first}` })
    await flush()
    t.equal(await revisionOf(first), 3)
  })

  await t.test('a revision whose report waits to be written is left to the report', async (t) => {
    const revisionOf = async (id: number) => (await findAgent(queries, all, id))?.effectiveRevision
    service.moveClock(heartbeatMs)
    beat(first, { effectiveRevision: 6, engineError: `of ${first}` }, true)
    await flush()
    t.equal(await revisionOf(first), 3)
    t.equal((await findAgent(queries, all, first))?.lastHeartbeatAt, service.now())
    service.moveClock(heartbeatMs)
    beat(first, { effectiveRevision: 6, engineError: 'more than the report' }, true)
    await flush()
    t.equal(await revisionOf(first), 6, 'the heartbeat has other changes')
    beat(first, { effectiveRevision: 7, engineError: 'more than the report' }, true)
    await flush()
    beat(first, { effectiveRevision: 7, engineError: 'more than the report' })
    await flush()
    t.equal(await revisionOf(first), 7, 'the report was not written')
    beat(first, { effectiveRevision: 3, engineError: `of ${first}` })
    await flush()
  })

  await t.test('a list sorts by the newest heartbeat, with a change or without', async (t) => {
    const sort = { field: 'lastHeartbeat', descending: true }
    const listed = () =>
      readListIds(selectAgents(queries, all), { ...everything, sort }, agentColumns)
    const begun = { effectiveRevision: 3, engineError: `of ${first}` }
    service.moveClock(heartbeatMs)
    beat(first, begun)
    await flush()
    t.equal((await listed())[0], first)
    service.moveClock(heartbeatMs)
    beat(second, { engineError: 'another' })
    await flush()
    t.strictSame((await listed()).slice(0, 2), [second, first])
    beat(second, { effectiveRevision: 3, engineError: `of ${second}` })
    await flush()
  })

  await t.test('a heartbeat that changes the state stores the time of the change', async (t) => {
    service.moveClock(heartbeatMs)
    beat(first, { engineState: 'unreachable', engineError: 'refused' })
    beat(second, { lockedBecause: 'is enrolled elsewhere' })
    await flush()
    t.match(await findAgent(queries, all, first), {
      state: agentStates.Failing,
      engineState: 'unreachable',
      lastStateChangeAt: service.now(),
    })
    t.match(await findAgent(queries, all, second), {
      state: agentStates.Locked,
      lockedBecause: 'is enrolled elsewhere',
    })
    t.same(hinted, [[first, second]])
  })

  await t.test('a heartbeat revives an agent that another coordinator marked Down', async (t) => {
    beat(first, { effectiveRevision: 3 })
    await flush()
    await queries.updateTable('agents').set({ state: agentStates.Down }).execute()
    service.moveClock(heartbeatMs)
    beat(first, { effectiveRevision: 3 })
    await flush()
    t.match(await findAgent(queries, all, first), {
      state: agentStates.Running,
      lastStateChangeAt: service.now(),
    })
    t.same(hinted, [[first]])
  })

  await t.test('the recorder reports stored revisions and ids of deleted agents', async (t) => {
    await queries
      .updateTable('agents')
      .set({ desiredRevision: 9, recordedRevision: 8 })
      .where('id', '=', first)
      .execute()
    await queries.deleteFrom('agents').where('id', '=', second).execute()
    recorded.length = 0
    beat(first, { effectiveRevision: 3 })
    beat(second)
    await flush()
    t.match(recorded, [{ id: first, desiredRevision: 9, recordedRevision: 8 }])
    t.same(gone, [second])
  })

  await t.test('a heartbeat that changes the row is written without a flush', async () => {
    beat(first, { effectiveRevision: 4 })
    await eventually('revision 4 is in the row', async () => {
      return (await findAgent(queries, all, first))?.effectiveRevision === 4
    })
  })

  await t.test('heartbeats of more agents than fit one statement are all written', async (t) => {
    const many: number[] = []
    for (let n = 0; n < 1100; n++) many.push(await addAgent(queries, `many-${n}`))
    service.moveClock(heartbeatMs)
    for (const id of many) beat(id, { effectiveRevision: id })
    await flush()
    const rows = await queries
      .selectFrom('agents')
      .select((e) => e.fn.countAll<number>().as('count'))
      .where('lastHeartbeatAt', '=', service.now())
      .whereRef('effectiveRevision', '=', 'id')
      .executeTakeFirstOrThrow()
    t.equal(rows.count, 1100)
  })

  await t.test('close writes the queued heartbeats', async (t) => {
    service.moveClock(heartbeatMs)
    beat(first, { effectiveRevision: 5 })
    await recorder.close()
    t.equal((await findAgent(queries, all, first))?.effectiveRevision, 5)
  })
}
