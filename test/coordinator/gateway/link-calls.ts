/** The two calls beside a live link: sources that an agent may read, and answers that are too large for the link. */
import type { Test } from 'tap'
import { answerLimitBytes } from '../../../src/messages/envelope.js'
import { grantSource } from '../../../src/coordinator/fleet/source-grants.js'
import { linkHeaders } from './link-agent.js'
import { answerTo, type Links } from './linked-agents.js'

export async function checkCalls(
  t: Test,
  { service, host, token, enrol, desire, ask }: Links,
): Promise<void> {
  const agent = await enrol()
  const other = await enrol()
  const sha = 'a'.repeat(64)
  await service.store.queries
    .insertInto('sources')
    .values({ sha, text: 'vcl 4.1; # ü', sourceMap: '{}', loads: 1, createdAt: 0 })
    .execute()
  await desire([agent.agentId])
  const call = (method: string, path: string, key: string, body?: string) =>
    fetch(`http://${host}/agent/v1${path}`, {
      method,
      headers: { authorization: `Agent ${key}` },
      ...(body !== undefined && { body }),
    })

  await t.test(
    'Network: stolen agent key: a source is sent only to the agent whose desired state has it',
    async (t) => {
      const own = await call('GET', `/sources/${sha}`, agent.key)
      t.equal(own.status, 200)
      t.equal(await own.text(), 'vcl 4.1; # ü')
      t.equal((await call('GET', `/sources/${sha}`, other.key)).status, 404)
      t.equal((await call('GET', `/sources/${'b'.repeat(64)}`, agent.key)).status, 404)
      const stranger = await call('GET', `/sources/${sha}`, 'nobody-s-key')
      t.equal(stranger.status, 401)
      t.match(await stranger.json(), { errorKey: 'auth', traceId: /^\w+$/ })
      t.equal((await fetch(`http://${host}/agent/v1/sources/${sha}`)).status, 401)
      const joiner = linkHeaders.join(token, agent.name)
      t.equal(
        (await fetch(`http://${host}/agent/v1/sources/${sha}`, { headers: joiner })).status,
        401,
      )
    },
  )

  await t.test('a source granted for a compilation is sent until the grant expires', async (t) => {
    const expiresAt = service.now() + 1000
    const granted = { agentId: other.agentId, sha, expiresAt }
    await grantSource(service.store.queries, granted, service.now())
    t.equal((await call('GET', `/sources/${sha}`, other.key)).status, 200)
    service.moveClock(1001)
    t.equal((await call('GET', `/sources/${sha}`, other.key)).status, 404)
  })

  await t.test('an agent can read its own state, and no state of others', async (t) => {
    const own = await call('GET', '/agents/self', agent.key)
    t.equal(own.status, 200)
    const { id, ...rest } = (await own.json()) as { id: number } // checked by the next line
    t.equal(id, agent.agentId)
    t.match(rest, { name: agent.name, stateName: /^\w+$/, lockedBecause: null })
    t.equal((await call('GET', '/agents/self', 'nobody-s-key')).status, 401)
    t.equal((await call('GET', `/agents/${other.agentId}`, agent.key)).status, 404)
  })

  await t.test('other paths answer 404, other methods 405', async (t) => {
    t.equal((await call('GET', '/nosuch', agent.key)).status, 404)
    t.equal((await call('GET', `/sources/${sha}/more`, agent.key)).status, 404)
    const wrong = await call('GET', '/answers/1', agent.key)
    t.same([wrong.status, wrong.headers.get('allow')], [405, 'PUT'])
  })

  for (const order of ['before', 'after'] as const)
    await t.test(`a large answer comes by PUT, ${order} the message`, async (t) => {
      const value = 'x'.repeat(3 << 20)
      const asked = ask(agent, { kind: 'command', line: 'vcl.show boot' })
      const { sequence } = await agent.next('command')
      const message = { ...answerTo(sequence), sentByPut: true }
      if (order === 'after') agent.say(message)
      const put = await call('PUT', `/answers/${sequence}`, agent.key, JSON.stringify(value))
      if (order === 'before') agent.say(message)
      t.equal(put.status, 204)
      t.same(await asked, value)
    })

  await t.test(
    'Network: stolen agent key: a PUT that is unexpected, too large or not JSON is refused',
    async (t) => {
      const asked = ask(agent, { kind: 'query', query: 'panic' })
      const { sequence } = await agent.next('query')
      const path = `/answers/${sequence}`
      t.equal((await call('PUT', '/answers/4711', agent.key, '1')).status, 404)
      t.equal((await call('PUT', path, other.key, '1')).status, 404)
      t.equal((await call('PUT', path, 'nobody-s-key', '1')).status, 401)
      t.equal((await call('PUT', path, agent.key, '{')).status, 400)
      const large = await fetch(`http://${host}/agent/v1${path}`, {
        method: 'PUT',
        headers: { authorization: `Agent ${agent.key}`, 'content-type': 'application/json' },
        body: Buffer.alloc(answerLimitBytes + 1, 0x20),
      }).then(
        (answer) => answer.status,
        () => 'cut off',
      )
      t.ok(large === 413 || large === 'cut off', String(large))
      agent.say(answerTo(sequence))
      t.equal(await asked, null)
    },
  )
}
