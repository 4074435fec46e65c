/** Causes that end a link: silence, malformed messages, a deleted agent, a second use, the coordinator (docs/behaviour.md, Enrolment). */
import t from 'tap'
import { deleteAgent } from '../../../src/coordinator/agents/agent-removal.js'
import { closeCodes } from '../../../src/coordinator/gateway/close-codes.js'
import { eventually } from '../../support/eventually.js'
import { describe, dial, link, linkHeaders, runningCondition, startGateway } from './link-agent.js'
import { makeToken, startService } from './service.js'

const key = (name: string): string => `key-of-${name}-0123456789abcdef`

await t.test('a link is ended by', async (t) => {
  const service = await startService(t)
  const { host, gateway } = await startGateway(t, service, { helloTimeoutMs: 300 })
  const token = await makeToken(service)
  let count = 0
  const enrol = async () => {
    const name = `agent-${++count}`
    const description = describe(name, key(name))
    return { ...(await link(host, description, { token, key: key(name) })), name, description }
  }

  await t.test('no hello in time', async (t) => {
    const agent = await dial(host, linkHeaders.join(token, 'mute'))
    t.match(await agent.untilClosed(), { code: closeCodes.protocolError, reason: /no hello/ })
  })

  await t.test('a message before hello', async (t) => {
    const agent = await dial(host, linkHeaders.join(token, 'hasty'))
    agent.say({ kind: 'heartbeat', condition: runningCondition })
    t.match(await agent.untilClosed(), { code: closeCodes.protocolError, reason: /first.*hello/ })
  })

  const malformed: readonly [string, string | Buffer][] = [
    ['no JSON', 'hello'],
    ['JSON that is not an object', '[1]'],
    ['an unknown kind', '{"kind":"nosuch","sequence":2,"traceId":"abcdefgh"}'],
    ['a kind of the prototype', '{"kind":"constructor","sequence":2,"traceId":"abcdefgh"}'],
    [
      'a field of the wrong type',
      '{"kind":"heartbeat","sequence":2,"traceId":"abcdefgh","condition":1}',
    ],
    ['a second hello', ''],
    ['binary data', Buffer.from('{}')],
  ]
  for (const [name, text] of malformed)
    await t.test(name, async (t) => {
      const agent = await enrol()
      if (text === '') agent.say({ kind: 'hello', ...agent.description })
      else agent.socket.send(text)
      t.match(await agent.untilClosed(), { code: closeCodes.protocolError })
    })

  await t.test('a message over 1 MiB', async (t) => {
    const agent = await enrol()
    agent.sendText(`"${'x'.repeat(1 << 20)}"`)
    t.match(await agent.untilClosed(), { code: 1009 })
  })

  await t.test('the deletion of the agent, which also invalidates its key', async (t) => {
    const agent = await enrol()
    await deleteAgent(service, { id: agent.agentId, name: agent.name }, { force: false })
    t.match(await agent.untilClosed(), { code: closeCodes.refused })
    await t.rejects(dial(host, linkHeaders.key(key(agent.name))), { message: '401' })
  })

  await t.test(
    'the deletion of the agent, at its next heartbeat if the hint was lost',
    async (t) => {
      const agent = await enrol()
      await service.store.queries.deleteFrom('agents').where('id', '=', agent.agentId).execute()
      agent.say({ kind: 'heartbeat', condition: runningCondition })
      t.match(await agent.untilClosed(), { code: closeCodes.refused })
    },
  )

  await t.test(
    'a second use of the credential when the first link is dead but not closed',
    async (t) => {
      const agent = await enrol()
      // The agent stops reading, so no ping is answered; the connection itself stays open.
      agent.socket.pause()
      const again = await link(host, agent.description, { key: key(agent.name) })
      t.equal(again.agentId, agent.agentId)
    },
  )

  await t.test('a concurrent use of its credential: one of two is accepted', async () => {
    const agent = await enrol()
    agent.socket.close()
    await agent.untilClosed()
    const both = await Promise.all([1, 2].map(() => dial(host, linkHeaders.key(key(agent.name)))))
    for (const one of both) one.say({ kind: 'hello', ...agent.description })
    await eventually('one is welcome, one is closed', () => {
      const welcome = both.filter(({ received }) => received[0]?.kind === 'welcome')
      const closed = both.filter((one) => one.closed()?.code === closeCodes.linkedAlready)
      return welcome.length === 1 && closed.length === 1
    })
  })

  await t.test('the stop of the coordinator', async (t) => {
    const agent = await enrol()
    await gateway.close()
    t.match(await agent.untilClosed(), { code: closeCodes.goingAway })
    t.equal(gateway.sessionCount, 0)
    await t.rejects(dial(host, linkHeaders.key(key(agent.name))), { message: '503' })
  })
})
