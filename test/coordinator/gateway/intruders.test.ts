/**
 * Attacks by an agent or in its name: one test for each, with the name of its line in the checklist. The other requirements of
 * these lines are tested elsewhere: used, expired and revoked join tokens and guesses in admission.test.ts; texts and answers of
 * other agents, and the end of the link of a deleted agent, in session.test.ts and several.test.ts; a coordinator with another
 * id or an older database in agent/careful.test.ts and end-to-end/faults.test.ts.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createContext } from '../../../src/context.js'
import { closeCodes } from '../../../src/coordinator/gateway/close-codes.js'
import { deleteAgent } from '../../../src/coordinator/agents/agent-removal.js'
import { instructAgent } from '../../../src/coordinator/agents/instruct.js'
import { findAgentByKey } from '../../../src/coordinator/fleet/agent-rows.js'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import { grantSource } from '../../../src/coordinator/fleet/source-grants.js'
import { eventually } from '../../support/eventually.js'
import { addOrganization } from '../store/rows.js'
import {
  describe,
  dial,
  digestOf,
  link,
  linkHeaders,
  runningCondition,
  startGateway,
  type GatewayServer,
  type LinkAgent,
} from './link-agent.js'
import { administratorOf, makeToken, startService, type TestService } from './service.js'

const all = { kind: 'all' } as const
/** Number of frames: over the limit of one window even when they are spread over two. */
const floodSize = 6_000
const key = (name: string): string => `key-of-${name}-0123456789abcdef`

interface Fort extends GatewayServer {
  readonly service: TestService
  readonly enrol: (
    name: string,
    organizationId?: number,
    changes?: Parameters<typeof describe>[2],
  ) => Promise<LinkAgent & { readonly agentId: number }>
}

async function start(t: Test): Promise<Fort> {
  const service = await startService(t)
  const gateway = await startGateway(t, service)
  return {
    ...gateway,
    service,
    enrol: async (name, organizationId, changes) => {
      const owner = organizationId === undefined ? undefined : administratorOf(organizationId)
      const token = await makeToken(service, {}, owner)
      const description = describe(name, key(name), changes)
      return link(gateway.host, description, { token, key: key(name) })
    },
  }
}

void t.test('Network: registration callback SSRF', async (t) => {
  const { service, enrol } = await start(t)
  let called = 0
  const trap = createServer((socket) => {
    called += 1
    socket.destroy()
  })
  await once(trap.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => trap.close())
  const { port } = trap.address() as AddressInfo // of a TCP listener
  const engine = { host: '127.0.0.1', port, version: '7.1.1', workingDirectory: null }
  const agent = await enrol('edge', undefined, { engine })

  const asked = instructAgent(service, createContext(service.log), {
    agentId: agent.agentId,
    timeoutMs: 20_000,
    question: { kind: 'command', line: `ping http://127.0.0.1:${port}/` },
  })
  const { sequence } = await agent.next('command')
  const value = JSON.stringify({ answerAt: `http://127.0.0.1:${port}/answer` })
  agent.say({
    kind: 'answer',
    instruction: sequence,
    result: 'done',
    value,
    sentByPut: false,
    error: null,
  })

  t.same(await asked, value, 'the answer is a plain value')
  t.equal(called, 0)
})

void t.test('Network: a join token of wrong tag scope', async (t) => {
  const { service, enrol } = await start(t)
  const { queries } = service.store
  const [red, blue] = [
    await addOrganization(queries, 'red'),
    await addOrganization(queries, 'blue'),
  ]
  const tagsOf = async (agentId: number): Promise<number[]> => {
    const agent = await findAgent(queries, all, agentId)
    return (agent?.tags ?? []).map(({ id }) => id)
  }
  const shared = await enrol('shared', undefined, { tags: ['rack'] })
  const own = await enrol('own', blue, { tags: ['rack'] })
  const [ofShared = 0] = await tagsOf(shared.agentId)
  const [ofBlue = 0] = await tagsOf(own.agentId)

  const thief = await enrol('thief', red, { tags: ['rack', 'adopted-own', 'simulated'] })

  const stolen = await tagsOf(thief.agentId)
  t.equal(stolen.length, 3)
  t.notOk(stolen.includes(ofShared) || stolen.includes(ofBlue), 'its tags belong to its owner')
  t.not(ofShared, ofBlue)
})

void t.test('Network: a token in the URL is not accepted and never logged', async (t) => {
  const { service, host } = await start(t)
  const token = await makeToken(service)
  for (const query of [
    `token=${token}`,
    `authorization=Join%20${token}`,
    `access_token=${token}`,
  ]) {
    const answer = await fetch(`http://${host}/agent/v1/sources/abc?${query}`)
    t.equal(answer.status, 401)
    t.notMatch(await answer.text(), token)
  }
  t.notMatch(JSON.stringify(service.warnings), token)
})

void t.test('Network: a stolen agent key cannot change the identity of its agent', async (t) => {
  const { service, host, enrol } = await start(t)
  const { queries } = service.store
  const red = await addOrganization(queries, 'red')
  const victim = await enrol('victim')
  const robbed = await enrol('robbed', red)
  robbed.socket.close()
  await robbed.untilClosed()
  const come = async (changes: Parameters<typeof describe>[2]): Promise<LinkAgent> => {
    const thief = await eventually('the old link is gone', () =>
      dial(host, linkHeaders.key(key('robbed'))),
    )
    thief.say({ kind: 'hello', ...describe('robbed', key('robbed'), changes) })
    return thief
  }

  const named = await come({ name: 'victim' })
  t.match(await named.untilClosed(), { code: closeCodes.refused, reason: /another agent's/ })

  const another = key('another of the thief')
  const keyed = await come({ keyDigest: digestOf(another) })
  t.match(await keyed.next('welcome'), { agentId: robbed.agentId })
  t.equal(await findAgentByKey(queries, digestOf(another)), undefined, 'no other key is stored')
  const row = await findAgent(queries, all, robbed.agentId)
  t.match(row, { name: 'robbed', organization: { id: red } })
  t.equal(victim.closed(), null)

  await deleteAgent(service, { id: robbed.agentId, name: 'robbed' }, { force: true })
  t.match(await keyed.untilClosed(), { code: closeCodes.refused })
  const source = await fetch(`http://${host}/agent/v1/sources/${'a'.repeat(64)}`, {
    headers: linkHeaders.key(key('robbed')),
  })
  t.equal(source.status, 401, 'its key is no longer valid')
})

void t.test('Network: name re-use after delete', async (t) => {
  const { service, host, enrol } = await start(t)
  const { queries } = service.store
  const red = await addOrganization(queries, 'red')
  const blue = await addOrganization(queries, 'blue')
  const first = await enrol('edge', red, { tags: ['rack'] })
  const sha = 'a'.repeat(64)
  const source = { sha, text: 'vcl 4.1;', sourceMap: '{}', loads: 1, createdAt: 0 }
  await queries.insertInto('sources').values(source).execute()
  const expiresAt = service.now() + 60_000
  await grantSource(queries, { agentId: first.agentId, sha, expiresAt }, service.now())
  const parameter = { agentId: first.agentId, name: 'default_ttl', value: '7' }
  await queries.insertInto('agentParams').values(parameter).execute()
  await queries
    .updateTable('agents')
    .set({ desiredRevision: 9, desired: JSON.stringify({ load: [{ name: 'x', sha }] }) })
    .execute()
  await deleteAgent(service, { id: first.agentId, name: 'edge' }, { force: false })
  await first.untilClosed()

  const token = await makeToken(service, {}, administratorOf(blue))
  const fresh = describe('edge', key('fresh'))
  const second = await link(host, fresh, { token, key: key('fresh') })

  t.not(second.agentId, first.agentId)
  const row = await findAgent(queries, all, second.agentId)
  t.match(row, { name: 'edge', organization: { id: blue }, tags: [], desiredRevision: 1 })
  const { desired } = await second.next('apply')
  t.same(desired.load, [], 'no programs of the deleted agent')
  t.notMatch(JSON.stringify(desired), 'default_ttl')
  for (const [holder, status] of [
    ['edge', 401],
    ['fresh', 404],
  ] as const) {
    const headers = linkHeaders.key(key(holder))
    const answer = await fetch(`http://${host}/agent/v1/sources/${sha}`, { headers })
    t.equal(answer.status, status, holder)
  }
})

void t.test('Network: WebSocket frame floods', async (t) => {
  const { host, gateway, service, enrol } = await start(t)
  const quiet = await enrol('quiet')
  const ended = { code: closeCodes.protocolError, reason: /over 5000 frames/ }
  const floods: Readonly<Record<string, (agent: LinkAgent) => void>> = {
    messages: (agent) => {
      agent.say({ kind: 'heartbeat', condition: runningCondition })
    },
    pings: ({ socket }) => {
      socket.ping('x'.repeat(100))
    },
    pongs: ({ socket }) => {
      socket.pong('x'.repeat(100))
    },
  }
  for (const [name, send] of Object.entries(floods)) {
    const agent = await enrol(`flood-of-${name}`)
    for (let count = 0; count < floodSize; count++) send(agent)
    const { code, reason } = await agent.untilClosed()
    // The library itself ends the link when too many of its pongs wait.
    if (code !== 1006) t.match({ code, reason }, ended, name)
  }
  const token = await makeToken(service)
  const early = await dial(host, linkHeaders.join(token, 'early'))
  for (let count = 0; count < floodSize; count++) early.socket.pong()
  t.match(await early.untilClosed(), ended, 'a flood before hello')

  const heavy = await enrol('heavy')
  const large = Object.assign(
    { kind: 'heartbeat', condition: runningCondition } as const,
    { more: 'x'.repeat(1_000_000) }, // as a newer agent may send
  )
  for (let count = 0; count < 70; count++) heavy.say(large)
  t.match(await heavy.untilClosed(), { ...ended, reason: /over 33554432 bytes/ })
  const shredded = await enrol('shredded')
  for (let count = 0; count < 100; count++) shredded.socket.send('x', { fin: false })
  t.match(await shredded.untilClosed(), { code: 1008 }, 'a message in a hundred fragments')
  t.equal(quiet.socket.extensions, '', 'a link has no compression')
  t.equal(quiet.closed(), null)
  await eventually('only the quiet agent is left', () => gateway.sessionCount === 1)
})

void t.test('an answer that is too large or too deep is refused before it is read', async (t) => {
  const { host, service, enrol } = await start(t)
  const agent = await enrol('liar')
  const asked = instructAgent(service, createContext(service.log), {
    agentId: agent.agentId,
    timeoutMs: 20_000,
    question: { kind: 'query', query: 'bans' },
  })
  const told = t.rejects(asked, { kind: 'unavailable', message: /nested deeper/ })
  const { sequence } = await agent.next('query')
  const put = async (body: string): Promise<string> => {
    const headers = linkHeaders.key(key('liar'))
    const at = `http://${host}/agent/v1/answers/${sequence}`
    const answer = await fetch(at, { method: 'PUT', headers, body })
    return `${answer.status} ${await answer.text()}`
  }

  t.match(await put(`[${'[],'.repeat(1_000_001)}[]]`), /^413 .*over 1000000 members/)
  t.match(await put(`${'['.repeat(65)}${']'.repeat(65)}`), /^413 .*nested deeper than 64/)
  const answer = {
    kind: 'answer',
    instruction: sequence,
    result: 'done',
    sentByPut: false,
  } as const
  const deep = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`) as unknown
  agent.say({ ...answer, value: deep, error: null })

  t.match(await agent.untilClosed(), { reason: /nested deeper than 64/ })
  await told
})

void t.test(
  'an answer of the wrong form ends the link, and its caller gets an error as well',
  async (t) => {
    const { service, enrol } = await start(t)
    const parameter = { value: '1', default: '1', unit: '', description: '' }
    type Question = Parameters<typeof instructAgent>[2]['question']
    const wrong: readonly (readonly [question: Question, value: unknown])[] = [
      ...[null, 'it compiles', [], { error: 7 }, {}].map(
        (value) => [{ kind: 'compile', sha: 'a'.repeat(64) }, value] as const,
      ),
      [{ kind: 'command', line: 'ping' }, { message: 'PONG' }],
      [
        { kind: 'setParam', name: 'x', value: '1' },
        { refusal: null, note: '', parameter: null },
      ],
      [{ kind: 'setHealth', backend: 'x', groups: null, health: 'sick' }, { refusal: null }],
      [{ kind: 'showRunning' }, { program: 'boot', parts: [{ file: 'x' }] }],
      [{ kind: 'query', query: 'vcls' }, [{ name: 'boot' }]],
      [{ kind: 'query', query: 'params' }, { x: { ...parameter, value: 1 } }],
      [{ kind: 'query', query: 'backends' }, { name: 'boot.default' }],
      [{ kind: 'query', query: 'bans' }, ['req.url ~ .']],
      [{ kind: 'query', query: 'panic' }, 7],
    ]
    for (const [index, [question, value]] of wrong.entries()) {
      const agent = await enrol(`liar-${index}`)
      const { agentId } = agent
      const context = createContext(service.log)
      const asked = instructAgent(service, context, { agentId, question, timeoutMs: 20_000 })
      const told = t.rejects(asked, {
        kind: 'unavailable',
        errorKey: 'agent',
        message: /must be |is missing/,
      })
      const { sequence } = await agent.next(question.kind)
      const answer = {
        kind: 'answer',
        instruction: sequence,
        result: 'done',
        sentByPut: false,
      } as const
      agent.say({ ...answer, value, error: null })
      const { code, reason } = await agent.untilClosed()
      t.equal(code, closeCodes.protocolError, `${question.kind}: ${JSON.stringify(value)}`)
      t.match(reason, /^the answer to /)
      await told
    }
  },
)
