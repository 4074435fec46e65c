/** A live link: desired states, heartbeats, reports, questions, and the two calls beside it (docs/behaviour.md, Agent link). */
import t from 'tap'
import { notifyDesiredChanged } from '../../../src/coordinator/agents/agent-hints.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { eventually } from '../../support/eventually.js'
import { link, runningCondition, type LinkAgent } from './link-agent.js'
import { checkCalls } from './link-calls.js'
import { answerTo, startLinks } from './linked-agents.js'
import type { TestService } from './service.js'

const links = await startLinks(t)
const { service, host, enrol, rowOf, desire, settle, ask } = links

function report(agent: LinkAgent, apply: { sequence: number; revision: number }): void {
  agent.say({
    kind: 'applyReport',
    instruction: apply.sequence,
    revision: apply.revision,
    result: 'applied',
    error: null,
    loaded: [],
    failures: [],
    changed: true,
  })
}

const appliesOf = (agent: LinkAgent) => agent.received.filter(({ kind }) => kind === 'apply')

await t.test('a desired state', async (t) => {
  await t.test(
    'is sent once per revision with the trace id of its deploy, and the report is recorded',
    async (t) => {
      const agent = await enrol()
      report(agent, await agent.next('apply'))

      await desire([agent.agentId])
      const apply = await agent.next('apply')
      notifyDesiredChanged(service, [agent.agentId], 'another-trace-id')
      report(agent, apply)

      t.match(apply, { revision: 2, traceId: 'trace-of-the-deploy' })
      t.equal(apply.desired.active, 'cf-1-aaaaaaaa-1')
      const row = await eventually('the report is in the row', async () => {
        const seen = await rowOf(agent.agentId)
        return seen?.attempted?.revision === 2 ? seen : null
      })
      t.match(row, { attempted: { result: 'applied', error: null }, effectiveRevision: 2 })
      await settle(agent)
      t.equal(appliesOf(agent).length, 2)
    },
  )

  await t.test('is sent after a heartbeat if the hint was lost', async (t) => {
    const agent = await enrol()
    report(agent, await agent.next('apply'))
    await eventually('revision 1 is recorded', async () => (await rowOf(agent.agentId))?.attempted)
    await service.store.queries
      .updateTable('agents')
      .set({ desiredRevision: 5 })
      .where('id', '=', agent.agentId)
      .execute()

    agent.say({ kind: 'heartbeat', condition: { ...runningCondition, effectiveRevision: 1 } })

    t.match(await agent.next('apply'), { revision: 5 })
  })

  await t.test('is not sent to an agent that reconnects with it and has reported it', async (t) => {
    const agent = await enrol()
    report(agent, await agent.next('apply'))
    await eventually('revision 1 is recorded', async () => (await rowOf(agent.agentId))?.attempted)
    agent.socket.close()
    await agent.untilClosed()

    const condition = { ...runningCondition, heldRevision: 1, effectiveRevision: 1 }
    const again = await link(host, { ...agent.description, condition }, { key: agent.key })

    await settle(again)
    t.equal(appliesOf(again).length, 0)
  })

  await t.test(
    'is sent again to an agent that reconnects with it when its report was lost',
    async (t) => {
      const agent = await enrol()
      await agent.next('apply')
      agent.socket.terminate()
      await agent.untilClosed()

      const condition = { ...runningCondition, heldRevision: 1, effectiveRevision: 1 }
      const again = await eventually('the first link is gone', () =>
        link(host, { ...agent.description, condition }, { key: agent.key }),
      )

      t.match(await again.next('apply'), { revision: 1 })
    },
  )

  await t.test('of many agents is read in one query and sent to all', async (t) => {
    const agents = await Promise.all(Array.from({ length: 40 }, () => enrol()))
    for (const agent of agents) report(agent, await agent.next('apply'))

    await desire(agents.map(({ agentId }) => agentId))

    for (const agent of agents) t.equal((await agent.next('apply')).revision, 2)
  })

  for (const [why, changes, state] of [
    ['a read-only agent', { capabilities: ['report'] }, agentStates.ReadOnly],
    ['an agent of another coordinator', { coordinatorId: 'another' }, agentStates.Locked],
    [
      'an agent that holds a higher revision',
      {
        coordinatorId: 'coordinator-under-test',
        condition: { ...runningCondition, heldRevision: 7, effectiveRevision: 7 },
      },
      agentStates.Locked,
    ],
  ] as const)
    await t.test(`is never sent to ${why}`, async (t) => {
      const agent = await enrol(changes)
      t.equal((await rowOf(agent.agentId))?.state, state, 'from its enrolment on')
      await desire([agent.agentId])
      await settle(agent)
      await eventually('its state is recorded', async () => {
        return (await rowOf(agent.agentId))?.state === state
      })
      t.equal(appliesOf(agent).length, 0)
    })

  await t.test('is sent to a locked agent as soon as it is unlocked', async (t) => {
    const agent = await enrol({ coordinatorId: 'another' })
    await eventually('it is Locked', async () => {
      return (await rowOf(agent.agentId))?.state === agentStates.Locked
    })

    const unlocked = ask(agent, { kind: 'unlock' })
    const { sequence } = await agent.next('unlock')
    agent.say(answerTo(sequence))
    agent.say({ kind: 'heartbeat', condition: runningCondition })

    t.equal(await unlocked, null)
    t.match(await agent.next('apply'), { revision: 1 })
    t.equal((await rowOf(agent.agentId))?.lockedBecause, null)
  })
})

await t.test('sequences', async (t) => {
  await t.test('a gap requests the full state once, and the full state is stored', async (t) => {
    const agent = await enrol({ tags: ['before'] })

    agent.say({ kind: 'heartbeat', condition: runningCondition }, 5)
    agent.say({ kind: 'heartbeat', condition: runningCondition }, 9)
    await agent.next('reportFullState')
    agent.say({
      kind: 'fullState',
      ...agent.description,
      tags: ['after'],
      condition: { ...runningCondition, engineState: 'unreachable', engineError: 'no answer' },
    })

    const row = await eventually('the full state is in the row', async () => {
      const seen = await rowOf(agent.agentId)
      return seen?.state === agentStates.Failing && seen.tags[0]?.name === 'after' ? seen : null
    })
    t.equal(row.engineError, 'no answer')
    await settle(agent)
    t.equal(agent.received.filter(({ kind }) => kind === 'reportFullState').length, 1)
    t.same(
      agent.received.map(({ sequence }) => sequence),
      agent.received.map((_, index) => index + 1),
      'the sequence of the coordinator has no gap',
    )
  })

  await t.test('a repeated message is processed once', async (t) => {
    const agent = await enrol()
    agent.say({ kind: 'heartbeat', condition: { ...runningCondition, engineState: 'stopped' } }, 2)
    agent.say({ kind: 'heartbeat', condition: runningCondition }, 2)
    await agent.next('reportFullState')
    const row = await eventually('the first is in the row', async () => {
      const seen = await rowOf(agent.agentId)
      return seen?.state === agentStates.Failing ? seen : null
    })
    t.equal(row.engineState, 'stopped')
  })
})

await t.test('the reason for an unreadable log is stored until the log is readable', async (t) => {
  const agent = await enrol({ logTrouble: 'spawn varnishncsa ENOENT' })
  const told = async (): Promise<string | null | undefined> =>
    (await rowOf(agent.agentId))?.logTrouble
  await eventually('it is stored', async () => (await told()) === 'spawn varnishncsa ENOENT')

  const { logTrouble: _, ...description } = agent.description
  agent.say({ kind: 'fullState', ...description })

  t.ok(await eventually('it is cleared', async () => (await told()) === null))
})

await t.test('a drift is stored with the agent and in the API log', async (t) => {
  const agent = await enrol()
  const drift = {
    at: '2026-01-02T03:04:05.678Z',
    foreign: ['boot'],
    action: 'saved and discarded',
    healedAt: null,
  }

  agent.say({ kind: 'drift', drift })

  const row = await eventually('the drift is in the row', async () => {
    const seen = await rowOf(agent.agentId)
    return seen?.drift ? seen : null
  })
  t.same(row.drift, drift)
  const logged = await service.store.queries
    .selectFrom('apiLogs')
    .selectAll()
    .where('keyId', '=', agent.agentId)
    .executeTakeFirst()
  t.match(logged, { severity: 2, keyType: 'agent', traceId: 'trace-of-the-agent', msg: /boot/ })
})

function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
}

await t.test('a question', async (t) => {
  const vcls = { kind: 'query', query: 'vcls' } as const

  await t.test('is sent to the agent with its trace id and returns the answer', async (t) => {
    const agent = await enrol()
    const asked = ask(agent, { kind: 'command', line: 'ping' })
    const command = await agent.next('command')
    agent.say({ ...answerTo(command.sequence), value: 'PONG' })
    t.match(command, { line: 'ping', traceId: 'trace-of-a-question' })
    t.equal(await asked, 'PONG')
  })

  for (const [result, expected] of [
    ['failed', { kind: 'unavailable', errorKey: 'agent' }],
    ['refused', { kind: 'conflict', errorKey: 'agent' }],
  ] as const)
    await t.test(`that the agent answers with ${result} says why`, async (t) => {
      const agent = await enrol()
      const asked = ask(agent, vcls)
      const { sequence } = await agent.next('query')
      agent.say({ ...answerTo(sequence), result, error: 'the reason' })
      t.match(await errorOf(asked), { ...expected, message: /the reason/ })
    })

  await t.test('fails without such an agent, without a link or without an answer', async (t) => {
    t.match(await errorOf(ask({ agentId: 999_999 }, vcls)), { kind: 'not-found' })
    const agent = await enrol()
    t.match(await errorOf(ask(agent, vcls, 50)), { kind: 'timed-out', errorKey: 'agent' })
    const asked = ask(agent, vcls)
    await agent.next('query')
    await agent.next('query')
    agent.socket.close()
    t.match(await errorOf(asked), { kind: 'unavailable', errorKey: 'agent' })
    t.match(await errorOf(ask(agent, vcls)), { kind: 'unavailable', message: /not connected/ })
  })

  await t.test('waits with at most 63 others', async (t) => {
    const agent = await enrol()
    const waiting = Array.from({ length: 64 }, () => ask(agent, vcls))
    for (let n = 0; n < 64; n++) await agent.next('query')
    t.match(await errorOf(ask(agent, vcls)), { kind: 'unavailable', message: /wait/ })
    agent.socket.terminate()
    for (const result of await Promise.allSettled(waiting)) t.equal(result.status, 'rejected')
  })
})

await t.test('an agent that stops reading is cut off, and its memory is freed', async (t) => {
  const agent = await enrol()
  agent.socket.pause()
  const line = 'x'.repeat(1_000_000)
  const waiting = Array.from({ length: 60 }, () => ask(agent, { kind: 'command', line }))
  for (const result of await Promise.allSettled(waiting)) t.equal(result.status, 'rejected')
  t.match(await errorOf(ask(agent, { kind: 'command', line })), { message: /not connected/ })
  agent.socket.terminate()
})

await t.test('the calls beside the link', (t) => checkCalls(t, links))

await t.test('no error was logged', (t) => {
  const errors = warningsOf(service).filter((entry) => Number(entry['level']) >= 50)
  t.same(errors, [])
  t.end()
})

function warningsOf(of: TestService): readonly Record<string, unknown>[] {
  return of.warnings
}
