/** Silent agents become Down; run for each database. */
import type { Test } from 'tap'
import { createLiveness } from '../../../src/coordinator/gateway/liveness.js'
import {
  createHeartbeatRecorder,
  markSilentAgentsDown,
} from '../../../src/coordinator/reports/heartbeat.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { writeHeartbeats } from '../../../src/coordinator/fleet/condition-queries.js'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import { runningCondition } from '../gateway/link-agent.js'
import { addAgent } from '../store/rows.js'
import type { TestService } from '../gateway/service.js'
import { all, heartbeatMs } from './hints.js'

export async function silenceContract(
  t: Test,
  start: (t: Test) => Promise<TestService>,
): Promise<void> {
  const service = await start(t)
  const { queries } = service.store
  const id = await addAgent(queries, 'silent', { lastHeartbeatAt: service.now() })
  const stateOf = async () => (await findAgent(queries, all, id))?.state
  const condition = { state: agentStates.Running, ...runningCondition, cachePid: null }
  const hear = () => writeHeartbeats(queries, [{ id, at: service.now(), ...condition }])
  const recorder = createHeartbeatRecorder(service, service.log, {
    recorded: () => undefined,
    gone: () => undefined,
  })
  const flush = () => recorder.flush()
  const liveness = createLiveness(service, service.log, flush)
  t.teardown(() => liveness.close())
  const pass = async (heartbeats: number) => {
    for (let n = 0; n < heartbeats; n++) {
      service.moveClock(heartbeatMs)
      await liveness.check()
    }
  }

  await t.test('an agent silent for over three heartbeats becomes Down once', async (t) => {
    await pass(3)
    await hear()
    await pass(3)
    t.equal(await stateOf(), agentStates.Running, 'exactly three heartbeats are still tolerated')
    await pass(1)
    t.equal(await stateOf(), agentStates.Down)
    t.match(await findAgent(queries, all, id), { lastStateChangeAt: service.now() })
    t.same(await markSilentAgentsDown(service), [], 'it is marked Down only once')
  })

  await t.test('an agent whose heartbeat waits to be written is not silent', async (t) => {
    await hear()
    await pass(3)
    service.moveClock(heartbeatMs)
    recorder.record({ agentId: id, readOnly: false }, runningCondition)
    await liveness.check()
    t.equal(await stateOf(), agentStates.Running)
    await pass(4)
    t.equal(await stateOf(), agentStates.Down)
  })

  await t.test('silence before the start of this coordinator does not count', async (t) => {
    await hear()
    service.moveClock(100 * heartbeatMs)
    const restarted = createLiveness(service, service.log, flush)
    await restarted.close()
    for (let n = 0; n < 2; n++) {
      service.moveClock(heartbeatMs)
      await restarted.check()
    }
    t.equal(await stateOf(), agentStates.Running)
    service.moveClock(heartbeatMs)
    await restarted.check()
    t.equal(await stateOf(), agentStates.Down)
  })

  await t.test('silence while this process was stopped does not count', async (t) => {
    await pass(1)
    await hear()
    service.moveClock(100 * heartbeatMs)
    await liveness.check()
    await pass(2)
    t.equal(await stateOf(), agentStates.Running)
    await pass(1)
    t.equal(await stateOf(), agentStates.Down)
  })

  await t.test('silence during an outage of the store does not count', async (t) => {
    await pass(1)
    await hear()
    let isOut = true
    const failing: TestService = {
      ...service,
      store: {
        ...service.store,
        queries: service.store.queries,
        check: () => (isOut ? Promise.reject(new Error('away')) : service.store.check()),
      },
    }
    const patient = createLiveness(failing, service.log, flush)
    await patient.close()
    const passWith = async (heartbeats: number) => {
      for (let n = 0; n < heartbeats; n++) {
        service.moveClock(heartbeatMs)
        await patient.check()
      }
    }
    await passWith(10)
    isOut = false
    await passWith(3)
    t.equal(await stateOf(), agentStates.Running)
    await passWith(1)
    t.equal(await stateOf(), agentStates.Down)
  })
}
