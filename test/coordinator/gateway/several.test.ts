/** Two coordinators over one store and a real NATS: an agent has one link and one row, whichever coordinator is called. */
import t, { type Test } from 'tap'
import { pino } from 'pino'
import { openBus } from '../../../src/coordinator/bus/open-bus.js'
import { createContext } from '../../../src/context.js'
import {
  notifyAgentRevoked,
  notifyDesiredChanged,
} from '../../../src/coordinator/agents/agent-hints.js'
import { instructAgent } from '../../../src/coordinator/agents/instruct.js'
import { createLeases } from '../../../src/coordinator/store/leases.js'
import { deleteAgentRow } from '../../../src/coordinator/fleet/agent-rows.js'
import { eventually } from '../../support/eventually.js'
import { startNats } from '../../support/nats.js'
import { describe, dial, link, linkHeaders, startGateway, type LinkAgent } from './link-agent.js'
import { makeToken, startService, type TestService } from './service.js'

const nats = await startNats(t)
const ground = await startService(t)
const one = await startOne(t)
const two = await startOne(t)
const token = await makeToken(ground)
let count = 0

/** Starts another coordinator over the common store. */
async function startOne(t: Test) {
  const bus = await openBus(nats.url, ground.coordinatorId, pino({ level: 'silent' }))
  t.teardown(() => bus.close())
  const { store, now } = ground
  const service: TestService = {
    ...ground,
    bus,
    leases: createLeases({ store, now, isAlone: false }),
  }
  return { service, ...(await startGateway(t, service)) }
}

function makeAgent() {
  const name = `edge-${++count}`
  const key = `key-of-${name}-0123456789abcdef`
  return { name, key, description: describe(name, key) }
}

/** Resolves when the bus knows its link, so that a question to the other coordinator finds it at once. */
async function enrolAt(host: string) {
  const agent = makeAgent()
  const linked = await link(host, agent.description, { token, key: agent.key })
  await Promise.all([one.service.bus.check(), two.service.bus.check()])
  return { ...agent, ...linked }
}

function ask(service: TestService, agentId: number): Promise<unknown> {
  return instructAgent(service, createContext(service.log), {
    agentId,
    question: { kind: 'query', query: 'bans' },
    timeoutMs: 20_000,
  })
}

function answerTo(instruction: number, value: unknown) {
  return {
    kind: 'answer',
    instruction,
    result: 'done',
    value,
    sentByPut: false,
    error: null,
  } as const
}

/** Sends hello; resolves at the welcome or the close of the link. */
async function greet(agent: LinkAgent, name: string, key: string): Promise<'in' | number> {
  agent.say({ kind: 'hello', ...describe(name, key) })
  return eventually('welcome or close', () => {
    if (agent.received.some(({ kind }) => kind === 'welcome')) return 'in'
    return agent.closed()?.code
  })
}

await t.test('a question to one coordinator is sent to an agent of the other', async (t) => {
  const agent = await enrolAt(one.host)

  const asked = ask(two.service, agent.agentId)
  const { sequence } = await agent.next('query')
  agent.say(answerTo(sequence, [{ at: 'here' }]))

  t.same(await asked, [{ at: 'here' }])
})

await t.test('a large answer may be PUT to either coordinator', async (t) => {
  const agent = await enrolAt(one.host)
  const value = Array.from({ length: 50 }, () => ({ text: 'x'.repeat(60_000) }))
  for (const { host } of [one, two]) {
    const asked = ask(two.service, agent.agentId)
    const { sequence } = await agent.next('query')
    const put = (number: number) =>
      fetch(`http://${host}/agent/v1/answers/${number}`, {
        method: 'PUT',
        headers: linkHeaders.key(agent.key),
        body: JSON.stringify(value),
      })
    t.equal((await put(sequence + 1)).status, 404, 'no question waits for that answer')
    t.equal((await put(sequence)).status, 204)
    agent.say({ ...answerTo(sequence, null), sentByPut: true })
    t.same(await asked, value)
  }
})

await t.test('a desired state made at one coordinator is sent by the other', async (t) => {
  const agent = await enrolAt(one.host)
  await agent.next('apply')
  await ground.store.queries
    .updateTable('agents')
    .set({ desiredRevision: 7 })
    .where('id', '=', agent.agentId)
    .execute()

  notifyDesiredChanged(two.service, [agent.agentId], 'trace-of-the-deploy')

  t.match(await agent.next('apply'), { revision: 7, traceId: 'trace-of-the-deploy' })
})

await t.test('a credential in use at one coordinator is refused at the other', async (t) => {
  const agent = await enrolAt(one.host)

  await t.rejects(dial(two.host, linkHeaders.key(agent.key)), { message: '409' })
  await t.rejects(dial(two.host, linkHeaders.join(token, agent.name)), { message: '409' })

  t.equal(agent.closed(), null)
  agent.socket.terminate()
  const again = await eventually('its old link is gone', () =>
    link(two.host, agent.description, { key: agent.key }),
  )
  t.equal(again.agentId, agent.agentId)
})

await t.test('of two concurrent uses of a credential at both, one is accepted', async (t) => {
  for (let round = 0; round < 5; round++) {
    const agent = await enrolAt(one.host)
    agent.socket.terminate()
    await eventually('the link has ended', async () => {
      const row = await ground.store.queries
        .selectFrom('agents')
        .select('linkId')
        .where('id', '=', agent.agentId)
        .executeTakeFirst()
      return row?.linkId === null
    })
    // Both connections are upgraded before either sends hello.
    const both = await Promise.all(
      [one.host, two.host].map((host) => dial(host, linkHeaders.key(agent.key))),
    )

    const answers = await Promise.all(both.map((end) => greet(end, agent.name, agent.key)))

    t.same(answers.toSorted(), [4409, 'in'])
  }
})

await t.test('of two concurrent enrolments of a name at both, one succeeds', async (t) => {
  const { name, key } = makeAgent()
  const both = await Promise.all(
    [one.host, two.host].map((host) => dial(host, linkHeaders.join(token, name))),
  )

  const answers = await Promise.all(both.map((end) => greet(end, name, key)))

  t.same(answers.toSorted(), [1008, 'in'])
})

await t.test('an agent deleted at one coordinator is disconnected by the other', async (t) => {
  const agent = await enrolAt(one.host)
  await ground.store.transaction((queries) => deleteAgentRow(queries, agent.agentId))

  notifyAgentRevoked(two.service, agent.agentId)

  t.equal((await agent.untilClosed()).code, 1008)
})

await t.test('during an outage of the bus', async (t) => {
  const deleted = await enrolAt(one.host)
  const moving = await enrolAt(one.host)
  const stuck = await enrolAt(one.host)
  await nats.stop()
  await eventually('both notice the outage', async () => {
    const checks = [one, two].map(({ service }) => service.bus.check())
    return (await Promise.allSettled(checks)).every(({ status }) => status === 'rejected')
  })

  await t.test('a deleted agent is disconnected without a hint', async (t) => {
    await ground.store.transaction((queries) => deleteAgentRow(queries, deleted.agentId))
    t.equal((await deleted.untilClosed()).code, 1008)
  })

  await t.test('a question about an own agent is answered', async (t) => {
    const asked = ask(one.service, moving.agentId)
    const { sequence } = await moving.next('query')
    moving.say(answerTo(sequence, [{ at: 'mine' }]))
    t.same(await asked, [{ at: 'mine' }])
  })

  await t.test('a question about an agent of the other fails with the reason', async (t) => {
    await t.rejects(ask(two.service, moving.agentId), {
      name: 'FleetError',
      kind: 'unavailable',
      message: /the bus is away/,
    })
  })

  let moved: LinkAgent = moving
  await t.test('a credential in use is refused, one whose link ended is accepted', async (t) => {
    await t.rejects(dial(two.host, linkHeaders.key(moving.key)), { message: '409' })
    moving.socket.close()
    moved = await eventually('it is accepted', () =>
      link(two.host, moving.description, { key: moving.key }),
    )
    t.equal(moved.closed(), null)
  })

  await t.test('a replaced link ends', async (t) => {
    await ground.store.queries
      .updateTable('agents')
      .set({ linkId: 'of-another-coordinator' })
      .where('id', '=', stuck.agentId)
      .execute()
    t.equal((await stuck.untilClosed()).code, 1008)
  })

  await t.test('after the outage, questions are answered as before', async (t) => {
    await nats.start()
    await eventually('both are back', () =>
      Promise.all([one.service.bus.check(), two.service.bus.check()]),
    )
    const asked = ask(one.service, moving.agentId)
    const { sequence } = await moved.next('query')
    moved.say(answerTo(sequence, [{ at: 'moved' }]))
    t.same(await asked, [{ at: 'moved' }])
  })
})
