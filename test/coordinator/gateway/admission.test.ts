/** Admission of agents: credentials, names, subprotocol, hello, and the end of a link (docs/behaviour.md, Enrolment). */
import { connect } from 'node:net'
import t from 'tap'
import { listObjects } from '../../../src/coordinator/api/list-objects.js'
import { joinTokenReading } from '../../../src/coordinator/registration/join-token-queries.js'
import { deleteJoinToken } from '../../../src/coordinator/registration/join-tokens.js'
import { createOwnTokens } from '../../../src/coordinator/registration/own-tokens.js'
import { closeCodes } from '../../../src/coordinator/gateway/close-codes.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { findAgent } from '../../../src/coordinator/fleet/agent-queries.js'
import { markSilentAgentsDown } from '../../../src/coordinator/reports/heartbeat.js'
import { eventually } from '../../support/eventually.js'
import { addOrganization } from '../store/rows.js'
import { describe, dial, link, linkHeaders, runningCondition, startGateway } from './link-agent.js'
import { administrator, administratorOf, makeToken, startService } from './service.js'

const all = { kind: 'all' } as const
const key = (name: string): string => `key-of-${name}-0123456789abcdef`

await t.test(
  'Network: brute force: an address with too many wrong keys must wait, valid keys never',
  async (t) => {
    const service = await startService(t)
    const { host } = await startGateway(t, service)
    const token = await makeToken(service)
    const known = await link(host, describe('known', key('known')), { token, key: key('known') })
    known.socket.terminate()
    const askForSource = async (): Promise<Response> =>
      fetch(`http://${host}/agent/v1/sources/abc`, { headers: linkHeaders.key('nobody') })
    for (let count = 0; count < 50; count++) t.equal((await askForSource()).status, 401)

    const limited = await askForSource()

    t.equal(limited.status, 429)
    const waitSeconds = Number(limited.headers.get('retry-after'))
    t.ok(waitSeconds > 0 && waitSeconds <= 300, `${waitSeconds} s`)
    await t.rejects(dial(host, linkHeaders.key('nobody')), { message: '429' })
    await t.rejects(dial(host, linkHeaders.join('not-a-token', 'new')), { message: '429' })
    await link(host, describe('new', key('new')), { token, key: key('new') })
    await eventually('the first link is gone', async () => {
      const headers = linkHeaders.key(key('known'))
      return (await fetch(`http://${host}/agent/v1/sources/abc`, { headers })).status === 404
    })
    service.moveClock(301_000)
    t.equal((await askForSource()).status, 401)
  },
)

await t.test(
  'Network: replayed, expired or revoked join tokens are refused before the upgrade',
  async (t) => {
    const service = await startService(t)
    const { host, gateway } = await startGateway(t, service)
    const token = await makeToken(service)
    const expired = await makeToken(service, { expires: Math.floor(service.now() / 1000) + 5 })
    const revoked = await makeToken(service)
    await deleteJoinToken(service, { id: 3 }, administrator)
    const used = await makeToken(service, { maxUses: 1 })
    await link(host, describe('first', key('first')), { token: used, key: key('first') })
    service.moveClock(10_000)

    const join = (value: string, name = 'new'): Record<string, string> =>
      linkHeaders.join(value, name)
    const cases: readonly (readonly [
      what: string,
      headers: Record<string, string>,
      status: string,
      protocols?: readonly string[],
    ])[] = [
      ['without a credential', {}, '401'],
      ['with another scheme', { authorization: `Basic ${token}` }, '401'],
      ['with an unknown key', linkHeaders.key('nobody'), '401'],
      ['with an unknown token', join('not-a-token-of-this-coordinator'), '401'],
      ['with an expired token', join(expired), '401'],
      ['with a revoked token', join(revoked), '401'],
      ['with a used token', join(used), '401'],
      ['with a token but no name', { authorization: `Join ${token}` }, '400'],
      ['with a name of wrong characters', join(token, 'a_b'), '400'],
      ['with a name of 64 characters', join(token, 'a'.repeat(64)), '400'],
      ['without the subprotocol', join(token), '400', []],
      ['with another subprotocol', join(token), '400', ['cachefleet.agent.v9']],
      ['under the name of a live agent', join(token, 'first'), '409'],
      ['with the key of a live agent', linkHeaders.key(key('first')), '409'],
    ]
    for (const [name, headers, status, protocols] of cases)
      await t.test(`a caller ${name} is answered ${status}`, async (t) => {
        await t.rejects(dial(host, headers, protocols), { message: status })
      })

    await t.test('an upgrade of another path is answered 404 with the error body', async (t) => {
      const answer = await rawRequest(
        host,
        'GET /other HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      )
      t.match(answer, /^HTTP\/1.1 404 /)
      t.match(answer, /"errorKey":"path"/)
    })

    await t.test('a request that is not a WebSocket handshake is answered 400', async (t) => {
      const answer = await rawRequest(
        host,
        `GET /agent/v1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Authorization: Join ${token}\r\nX-Cachefleet-Name: raw\r\n` +
          `Sec-WebSocket-Protocol: cachefleet.agent.v1\r\n\r\n`,
      )
      t.match(answer, /^HTTP\/1.1 400 /)
    })

    await t.test('none of these calls displaced the live agent', (t) => {
      t.equal(gateway.sessionCount, 1)
      t.end()
    })
    await t.test('no secret is in the log', (t) => {
      t.notMatch(JSON.stringify(service.warnings), token)
      t.end()
    })
  },
)

await t.test('enrolment', async (t) => {
  const service = await startService(t)
  const { host } = await startGateway(t, service)

  await t.test('a new agent gets a row, its static tags and those of the token', async (t) => {
    const token = await makeToken(service, { tags: ['from-the-token'] })
    const description = describe('edge-1', key('edge-1'), { tags: ['static-a', 'static-b'] })

    const agent = await link(host, description, { token, key: key('edge-1') })

    const row = await findAgent(service.store.queries, all, agent.agentId)
    t.match(row, {
      name: 'edge-1',
      state: agentStates.Running,
      engineHost: '10.0.0.1',
      enginePort: 6081,
      desiredRevision: 1,
      attempted: null,
    })
    t.same(
      row?.tags.map((tag) => [tag.name, tag.static, tag.assigned]),
      [
        ['from-the-token', false, true],
        ['static-a', true, false],
        ['static-b', true, false],
      ],
    )
    const [welcome] = agent.received
    t.match(welcome, {
      kind: 'welcome',
      sequence: 1,
      coordinatorId: 'coordinator-under-test',
      heartbeatMs: 60_000,
      statsIntervalMs: 10_000,
      revision: 1,
    })
    t.match(await agent.next('apply'), { revision: 1, desired: { load: [], active: 'cf-idle' } })
  })

  await t.test(
    'an agent that reconnects with its key keeps its id and loses tags that it no longer sends',
    async (t) => {
      const token = await makeToken(service)
      const before = describe('edge-2', key('edge-2'), { tags: ['static-a', 'gone'] })
      const first = await link(host, before, { token, key: key('edge-2') })
      first.socket.close()
      await first.untilClosed()

      const again = { ...before, tags: ['static-a'], agentVersion: '0.2.7' }
      const second = await link(host, again, { key: key('edge-2') })

      t.equal(second.agentId, first.agentId)
      const row = await findAgent(service.store.queries, all, second.agentId)
      t.same(
        row?.tags.map(({ name }) => name),
        ['static-a'],
      )
      t.equal(row?.agentVersion, '0.2.7')
    },
  )

  await t.test(
    'an agent that reconnects with another name is renamed, unless the name is taken',
    async (t) => {
      const token = await makeToken(service)
      const own = key('edge-5')
      const first = await link(host, describe('edge-5', own), { token, key: own })
      first.socket.close()
      await first.untilClosed()

      const renamed = await link(host, describe('edge-6', own), { key: own })
      renamed.socket.close()
      await renamed.untilClosed()
      const clashing = await dial(host, linkHeaders.key(own))
      clashing.say({ kind: 'hello', ...describe('edge-1', own) })

      const { code, reason } = await clashing.untilClosed()
      t.equal(code, closeCodes.refused)
      t.match(reason, /edge-1/)
      const row = await findAgent(service.store.queries, all, first.agentId)
      t.equal(row?.name, 'edge-6')
    },
  )

  await t.test(
    'the use of a token counts at hello, and one of two agents gets the last use',
    async (t) => {
      const token = await makeToken(service, { maxUses: 1 })
      const silent = await dial(host, linkHeaders.join(token, 'silent'))
      const one = await dial(host, linkHeaders.join(token, 'one'))
      const two = await dial(host, linkHeaders.join(token, 'two'))

      one.say({ kind: 'hello', ...describe('one', key('one')) })
      two.say({ kind: 'hello', ...describe('two', key('two')) })

      const refused = await eventually('one is welcome, one is refused', () => {
        const welcome = [one, two].filter(({ received }) => received.length > 0)
        const closed = [one, two].filter((agent) => agent.closed())
        return welcome.length === 1 && closed.length === 1 ? closed[0] : null
      })
      t.equal(refused.closed()?.code, closeCodes.refused)
      t.equal(silent.closed(), null)
    },
  )

  await t.test(
    'the name and id of a Down agent can be taken over with a new key by its organization only',
    async (t) => {
      const organizationId = await addOrganization(service.store.queries, 'acme')
      const acme = administratorOf(organizationId)
      const token = await makeToken(service, {}, acme)
      const foreign = await makeToken(service)
      const old = await link(host, describe('edge-3', key('old')), { token, key: key('old') })
      old.socket.terminate()
      await eventually('the link is gone', () => old.closed())
      await t.rejects(
        dial(host, linkHeaders.join(token, 'edge-3')),
        { message: '409' },
        'not Down yet',
      )
      service.moveClock(3 * 60_000 + 1)
      await markSilentAgentsDown(service)

      await t.rejects(
        dial(host, linkHeaders.join(foreign, 'edge-3')),
        { message: '409' },
        'a token of another organization',
      )
      const next = await link(host, describe('edge-3', key('new')), { token, key: key('new') })

      t.equal(next.agentId, old.agentId)
      await t.rejects(dial(host, linkHeaders.key(key('old'))), { message: '401' }, 'the old key')
      const row = await findAgent(service.store.queries, all, next.agentId)
      t.match(row, { state: agentStates.Running, organization: { name: 'acme' } })
    },
  )

  const refusals: readonly [string, Parameters<typeof describe>[2], RegExp][] = [
    ['of another major version', { agentVersion: '1.1.0' }, /over one minor version/],
    ['of a minor version too new', { agentVersion: '0.4.0' }, /over one minor version/],
    ['that names itself otherwise in hello', { name: 'other' }, /X-Cachefleet-Name/],
    [
      'with the key of another agent',
      { keyDigest: describe('x', key('edge-2')).keyDigest },
      /another agent's/,
    ],
  ]
  for (const [name, changes, reason] of refusals)
    await t.test(`an agent ${name} is refused with the reason`, async (t) => {
      const token = await makeToken(service, { maxUses: 1 })
      const agent = await dial(host, linkHeaders.join(token, 'refused'))

      agent.say({ kind: 'hello', ...describe('refused', key('refused'), changes) })

      const { code, reason: words } = await agent.untilClosed()
      t.equal(code, closeCodes.refused)
      t.match(words, reason)
      await t.resolves(dial(host, linkHeaders.join(token, 'refused')), 'the token was not used')
    })

  await t.test(
    'an agent of the next minor version is accepted, and its unknown capabilities are ignored',
    async (t) => {
      const token = await makeToken(service)
      const description = describe('newer', key('newer'), { agentVersion: '0.3.0' })
      const agent = await dial(host, linkHeaders.join(token, 'newer'))
      agent.sendText(
        JSON.stringify({
          kind: 'hello',
          sequence: 1,
          traceId: 'trace-of-the-agent',
          ...description,
          capabilities: ['report', 'deploy', 'command', 'fly'],
          novelty: true,
        }),
      )
      const { agentId } = await agent.next('welcome')

      agent.sendText(
        JSON.stringify({ kind: 'novelty', sequence: 2, traceId: 'trace-of-the-agent' }),
      )
      agent.say({ kind: 'heartbeat', condition: runningCondition }, 3)

      const row = await findAgent(service.store.queries, all, agentId)
      t.same(row?.capabilities, ['report', 'deploy', 'command'])
      await agent.next('apply')
      t.equal(agent.closed(), null)
      t.notOk(agent.received.some(({ kind }) => kind === 'reportFullState'))
    },
  )
})

await t.test('own tokens of a process replace each other and do not accumulate', async (t) => {
  const service = await startService(t)
  const makeOwn = createOwnTokens(service)
  const first = await makeOwn('local agent', 1)
  await makeOwn('simulated agents', 7)
  await deleteJoinToken(service, { id: 1 }, administrator)
  const later = [await makeOwn('local agent', 1), await makeOwn('local agent', 1)]
  const last = await makeOwn('local agent', 1)

  const { rows } = await listObjects(
    service,
    administrator,
    {},
    { noun: 'jointoken', ...joinTokenReading },
  )
  const labels = []
  for await (const { label, maxUses } of rows) labels.push([label, maxUses])
  t.same(labels, [
    ['simulated agents', 7],
    ['local agent', 1],
    ['local agent', 1],
  ])
  t.equal(new Set([first, ...later, last]).size, 4)
})

function rawRequest(host: string, text: string): Promise<string> {
  const [address = '', port = ''] = host.split(':')
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), address, () => socket.write(text))
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('close', () => {
      resolve(answer)
    })
    socket.on('error', reject)
  })
}
