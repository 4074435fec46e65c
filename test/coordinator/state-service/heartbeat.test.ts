/** Heartbeats and reports become rows, and silence becomes Down: on both databases. */
import t, { type Test } from 'tap'
import { agentChangedSubject } from '../../../src/bus/bus.js'
import { createLiveness } from '../../../src/coordinator/agent-gateway/liveness.js'
import { readAgentIds } from '../../../src/coordinator/state-service/agents/agent-hints.js'
import { createReportRecorder } from '../../../src/coordinator/state-service/agents/agent-reports.js'
import {
  createHeartbeatRecorder,
  markSilentAgentsDown,
  type HeardAgent,
} from '../../../src/coordinator/state-service/agents/heartbeat.js'
import { registerAgent } from '../../../src/coordinator/state-service/agents/registration.js'
import { recognizeJoinToken } from '../../../src/coordinator/state-service/agents/agent-credentials.js'
import { createContext } from '../../../src/context.js'
import { agentStates } from '../../../src/domain/agent-state.js'
import { findAgent } from '../../../src/store/agents.js'
import { readPlacements, savePlacements } from '../../../src/store/placements.js'
import { eventually } from '../../support/eventually.js'
import { startPostgres } from '../../support/postgres.js'
import { addAgent, addDeployment, addFile, addGroup } from '../../store/rows.js'
import { describe as describeAgent, runningCondition } from '../agent-gateway/link-agent.js'
import { makeToken, startService, type TestService } from '../agent-gateway/service.js'

const all = { kind: 'all' } as const
const heartbeatMs = 5000

const postgres = await startPostgres(t)
await suite('SQLite', (t) => startService(t, { heartbeatMs }))
await suite('PostgreSQL', async (t) => startService(t, { heartbeatMs, url: await postgres.url() }))

async function suite(name: string, start: (t: Test) => Promise<TestService>): Promise<void> {
  await t.test(name, async (t) => {
    await t.test('heartbeats', (t) => heartbeats(t, start))
    await t.test('silence', (t) => silence(t, start))
    await t.test('reports', (t) => reports(t, start))
    await t.test('enrolments of one name at once make one agent', async (t) => {
      const service = await start(t)
      const token = await makeToken(service)
      const context = createContext(service.log)
      const join = async (key: string) => {
        const joining = await recognizeJoinToken(service, token, 'same')
        return () => registerAgent(service, context, joining, describeAgent('same', key))
      }
      const joins = await Promise.all(['key-one', 'key-two', 'key-three'].map(join))

      const results = await Promise.allSettled(joins.map((register) => register()))

      t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const result of results)
        if (result.status === 'rejected') t.match(result.reason, { kind: 'conflict' })
      const token_ = await service.store.queries.selectFrom('joinTokens').select('uses').execute()
      t.same(token_, [{ uses: 1 }], 'refused enrolments used nothing up')
    })
  })
}

function watch(service: TestService) {
  const hinted: number[][] = []
  service.bus.subscribe(agentChangedSubject, (hint) => hinted.push([...readAgentIds(hint)]))
  return hinted
}

/** Whatever was published before has been delivered when this resolves. */
async function delivered(service: TestService): Promise<void> {
  await new Promise<void>((resolve) => {
    const marker = service.bus.subscribe('marker', () => {
      marker.close()
      resolve()
    })
    service.bus.publish('marker', {})
  })
}

async function heartbeats(t: Test, start: (t: Test) => Promise<TestService>): Promise<void> {
  const service = await start(t)
  const { queries } = service.store
  const hinted = watch(service)
  const heard: HeardAgent[] = []
  const gone: number[] = []
  const recorder = createHeartbeatRecorder(service, service.log, {
    heard: (agents) => heard.push(...agents),
    gone: (ids) => gone.push(...ids),
  })
  const ids: number[] = []
  for (let n = 0; n < 5; n++) ids.push(await addAgent(queries, `agent-${n}`))
  const [first = 0, second = 0] = ids
  const beat = (agentId: number, changes: Partial<typeof runningCondition> = {}) => {
    recorder.record({ agentId, readOnly: false }, { ...runningCondition, ...changes })
  }
  const flush = async () => {
    hinted.length = 0
    await recorder.flush()
    await delivered(service)
  }

  await t.test('of many agents are written together, the newest of each', async (t) => {
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

  await t.test('that change nothing move the time only, and tell nobody', async (t) => {
    const before = await findAgent(queries, all, first)
    service.moveClock(heartbeatMs)
    for (const id of ids) beat(id, { effectiveRevision: 3, engineError: `of ${id}` })
    await flush()
    const after = await findAgent(queries, all, first)
    t.equal(after?.lastHeartbeatAt, service.now())
    t.equal(after?.lastStateChangeAt, before?.lastStateChangeAt)
    t.same(hinted, [])
  })

  await t.test('that change the state say when', async (t) => {
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

  await t.test('bring an agent back that another coordinator called Down meanwhile', async (t) => {
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

  await t.test('answer what the store says of the agent, and who is gone', async (t) => {
    await queries
      .updateTable('agents')
      .set({ desiredRevision: 9, attemptedRevision: 8, attemptedResult: 'failed' })
      .where('id', '=', first)
      .execute()
    await queries.deleteFrom('agents').where('id', '=', second).execute()
    heard.length = 0
    beat(first, { effectiveRevision: 3 })
    beat(second)
    await flush()
    t.match(heard, [
      { id: first, desiredRevision: 9, attemptedRevision: 8, attemptedResult: 'failed' },
    ])
    t.same(gone, [second])
  })

  await t.test('that change something are written without being asked', async () => {
    beat(first, { effectiveRevision: 4 })
    await eventually('revision 4 is in the row', async () => {
      return (await findAgent(queries, all, first))?.effectiveRevision === 4
    })
  })

  await t.test('of more agents than a statement takes are all written', async (t) => {
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

  await t.test('that wait are written at close', async (t) => {
    service.moveClock(heartbeatMs)
    beat(first, { effectiveRevision: 5 })
    await recorder.close()
    t.equal((await findAgent(queries, all, first))?.effectiveRevision, 5)
  })
}

async function silence(t: Test, start: (t: Test) => Promise<TestService>): Promise<void> {
  const service = await start(t)
  const { queries } = service.store
  const id = await addAgent(queries, 'silent', { lastHeartbeatAt: service.now() })
  const stateOf = async () => (await findAgent(queries, all, id))?.state
  const hear = () =>
    queries
      .updateTable('agents')
      .set({ state: agentStates.Running, lastHeartbeatAt: service.now() })
      .execute()
  const liveness = createLiveness(service, service.log)
  t.teardown(async () => {
    liveness.stop()
    await Promise.resolve()
  })
  const pass = async (heartbeats: number) => {
    for (let n = 0; n < heartbeats; n++) {
      service.moveClock(heartbeatMs)
      await liveness.check()
    }
  }

  await t.test('of three heartbeats is Down, once', async (t) => {
    await pass(3)
    await hear()
    await pass(3)
    t.equal(await stateOf(), agentStates.Running, 'exactly three heartbeats are not over')
    await pass(1)
    t.equal(await stateOf(), agentStates.Down)
    t.match(await findAgent(queries, all, id), { lastStateChangeAt: service.now() })
    t.same(await markSilentAgentsDown(service), [], 'it was told already')
  })

  await t.test('before the start of this coordinator does not count', async (t) => {
    await hear()
    service.moveClock(100 * heartbeatMs)
    const restarted = createLiveness(service, service.log)
    restarted.stop()
    for (let n = 0; n < 2; n++) {
      service.moveClock(heartbeatMs)
      await restarted.check()
    }
    t.equal(await stateOf(), agentStates.Running)
    service.moveClock(heartbeatMs)
    await restarted.check()
    t.equal(await stateOf(), agentStates.Down)
  })

  await t.test('while this process was stopped does not count', async (t) => {
    await pass(1)
    await hear()
    service.moveClock(100 * heartbeatMs)
    await liveness.check()
    await pass(2)
    t.equal(await stateOf(), agentStates.Running)
    await pass(1)
    t.equal(await stateOf(), agentStates.Down)
  })

  await t.test('during an outage of the store does not count', async (t) => {
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
    const patient = createLiveness(failing, service.log)
    patient.stop()
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

async function reports(t: Test, start: (t: Test) => Promise<TestService>): Promise<void> {
  const service = await start(t)
  const { queries } = service.store
  const hinted = watch(service)
  const recorder = createReportRecorder(service, service.log)
  const groupId = await addGroup(queries, 'group', await addFile(queries, 'main.vcl'))
  const deploymentId = await addDeployment(queries, 'deployment')
  const program = { name: `cf-${groupId}-new`, sha: 'f'.repeat(64), fqdns: null }

  await t.test('of a whole fleet are written with their placements', async (t) => {
    const ids: number[] = []
    for (let n = 0; n < 450; n++)
      ids.push(await addAgent(queries, `fleet-${n}`, { desiredRevision: 2 }))
    await savePlacements(
      queries,
      ids.map((agentId, position) => ({
        groupId,
        agentId,
        organizationId: null,
        deploymentId,
        position,
        state: 'wanted' as const,
        wantedRevision: 1,
        appliedRevision: null,
        current: null,
        candidate: program,
        candidateState: 'pending' as const,
        previous: null,
        error: null,
        deployedAt: null,
        ...{ keptDown: false, stage: false, leaving: false },
      })),
    )
    for (const [n, agentId] of ids.entries())
      recorder.recordApply(agentId, {
        revision: 2,
        result: n % 3 === 0 ? 'failed' : 'applied',
        error: null,
        loaded: n % 3 === 0 ? [] : [program.name],
        failures: n % 3 === 0 ? [{ program: program.name, error: 'does not compile' }] : [],
        changed: true,
      })

    await recorder.flush()

    const placements = await readPlacements(queries, { groupIds: [groupId] })
    t.equal(placements.filter((one) => one.candidateState === 'loaded').length, 300)
    const failed = placements.filter((one) => one.candidateState === 'failed')
    t.equal(failed.length, 150)
    t.ok(failed.every((one) => one.error === 'does not compile'))
    const [first = 0, second = 0] = ids
    t.match(await findAgent(queries, all, first), {
      attempted: { revision: 2, result: 'failed', error: 'does not compile', at: service.now() },
      effectiveRevision: null,
    })
    t.match(await findAgent(queries, all, second), {
      attempted: { revision: 2, result: 'applied', error: null },
      effectiveRevision: 2,
    })
    await delivered(service)
    t.same(new Set(hinted.flat()), new Set(ids))
    t.ok(hinted.length <= 4, `${hinted.length} hints`)
  })

  await t.test('of agents that are gone are dropped', async (t) => {
    recorder.recordApply(999_999, {
      revision: 1,
      result: 'applied',
      error: null,
      loaded: [],
      failures: [],
      changed: false,
    })
    await recorder.flush()
    t.same(service.warnings, [])
  })

  await t.test(
    'wait while the store is away, and are written in order when it is back',
    async (t) => {
      const agentId = await addAgent(queries, 'patient', { desiredRevision: 2 })
      let isOut = true
      const failing: TestService = {
        ...service,
        store: {
          ...service.store,
          decide: (work) =>
            isOut ? Promise.reject(new Error('away')) : service.store.decide(work),
        },
      }
      const patient = createReportRecorder(failing, service.log)
      const report = { error: null, loaded: [], failures: [], changed: true }
      patient.recordApply(agentId, { ...report, revision: 1, result: 'applied' })
      patient.recordApply(agentId, { ...report, revision: 2, result: 'failed', error: 'disk full' })
      await patient.flush()
      t.equal((await findAgent(queries, all, agentId))?.attempted, null)

      isOut = false
      await patient.close()

      t.match(await findAgent(queries, all, agentId), {
        attempted: { revision: 2, result: 'failed', error: 'disk full' },
        effectiveRevision: 1,
      })
    },
  )
  await recorder.close()
}
