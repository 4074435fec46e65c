/** The agent's end of the link, without a cache: credentials, order of messages, loss and reconnect. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import type { AgentConfig } from '../../src/agent/agent-config.js'
import { CoordinatorLink } from '../../src/agent/link/coordinator-link.js'
import { newTraceId } from '../../src/context.js'
import { encodeMessage } from '../../src/messages/codec.js'
import { describe, runningCondition } from '../coordinator/gateway/link-agent.js'
import { eventually } from '../support/eventually.js'
import { root } from '../support/root.js'
import { idle } from '../support/observe-cache.js'
import { startCoordinatorEnd, type CoordinatorEnd } from './coordinator-end.js'
import { makeFolder, runTestAgent } from './run-agent.js'

const absent: AgentConfig['engine'] = {
  mode: 'attach',
  host: '127.0.0.1',
  port: 1,
  secretFile: '/nowhere',
  workingDirectory: null,
}

void t.test(
  'a new agent joins with its token, then uses its key, and its token again after a 401',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const stateDir = await makeFolder(t)
    const agent = await runTestAgent(t, coordinator, absent, { stateDir })
    const hello = await coordinator.hello()
    await eventually('linked', () => agent.isLinked())
    t.same(coordinator.authorizations, ['Join the-token'], 'its key is still unknown')
    t.same(coordinator.names, ['edge-1'])
    t.match(hello, { sequence: 1, name: 'edge-1', tags: ['static-a'], coordinatorId: null })
    t.match(hello.engine, { host: '127.0.0.1', port: 6081, version: '', workingDirectory: null })
    await agent.stop()

    coordinator.settings.admit = (authorization) => (authorization.startsWith('Join') ? null : 401)
    const forgotten = await runTestAgent(t, coordinator, absent, { stateDir })
    await coordinator.hello(2)
    const [, key = ''] = coordinator.authorizations
    t.match(coordinator.authorizations.slice(1), [/^Agent [0-9a-f]{64}$/, 'Join the-token'])
    t.same(coordinator.names.slice(1), [undefined, 'edge-1'])
    await forgotten.stop()

    coordinator.settings.admit = () => null
    const next = await runTestAgent(t, coordinator, absent, { stateDir })
    const again = await coordinator.hello(3)
    t.equal(again.keyDigest, hello.keyDigest)
    t.equal(again.coordinatorId, 'coordinator-one')
    t.match(coordinator.authorizations.at(-1), /^Agent /)
    const secret = key.slice('Agent '.length)
    for (const one of [agent, forgotten, next])
      t.notOk(JSON.stringify(one.lines).includes(secret), 'no secret is logged')
  },
)

void t.test('a refused agent without a token keeps retrying and logs it once', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  coordinator.settings.admit = () => 401
  const joinToken = () => Promise.resolve(undefined)
  const agent = await runTestAgent(t, coordinator, absent, { joinToken })
  await eventually('two attempts', () => coordinator.authorizations.length >= 2)
  const warnings = agent.lines.filter((line) => line.level === 40 && /refuses/.test(line.msg))
  t.equal(warnings.length, 1)

  coordinator.settings.admit = () => null
  await eventually('linked', () => agent.isLinked())
})

void t.test('an address with the wrong scheme is logged with the right one', async (t) => {
  const certificates = join(root, 'test/fixtures/tls')
  const tls = createServer({
    cert: await readFile(join(certificates, 'one.crt')),
    key: await readFile(join(certificates, 'one.key')),
  })
  await once(tls.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    tls.closeAllConnections()
    tls.close()
  })
  const { port } = tls.address() as AddressInfo // of a TCP listener
  const coordinator = await startCoordinatorEnd(t)
  const plain = new URL(coordinator.url).host
  const rows = [
    [`ws://127.0.0.1:${port}`, `127.0.0.1:${port} speaks TLS; use wss://127.0.0.1:${port} in`],
    [`wss://${plain}`, `${plain} does not speak TLS; use ws://${plain} in`],
  ] as const
  for (const [url, told] of rows) {
    const agent = await runTestAgent(t, coordinator, absent, { coordinator: { url, caFile: null } })
    const complaint = await eventually('the log line', () =>
      agent.lines.find(({ msg }) => /coordinator is not reached/.test(msg)),
    )
    t.match(complaint.why, `the coordinator at ${told} --coordinator-url`)
  }
})

void t.test(
  'a break in the order of messages ends the link, and the agent reconnects',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const agent = await runTestAgent(t, coordinator, absent)
    await coordinator.hello(1)
    await eventually('linked', () => agent.isLinked())
    const breaks: ((end: CoordinatorEnd) => void)[] = [
      (end) => {
        end.sendRaw('not JSON')
      },
      (end) => {
        end.sendRaw('{"kind":"nosuch","sequence":2,"traceId":"12345678"}')
      },
      (end) => {
        const traceId = 'trace-of-a-gap'
        end.sendRaw(encodeMessage({ kind: 'reportFullState', sequence: 9, traceId }))
      },
    ]
    for (const [index, breakOrder] of breaks.entries()) {
      breakOrder(coordinator)
      await coordinator.hello(index + 2)
      await eventually('linked again', () => agent.isLinked())
    }
    coordinator.send({ kind: 'reportFullState' }, 'trace-of-all')
    const full = await eventually('the full state', () =>
      // An agent also sends its full state unasked.
      coordinator.received.find(
        ({ kind, traceId }) => kind === 'fullState' && traceId === 'trace-of-all',
      ),
    )
    t.match(full, { name: 'edge-1' })
  },
)

void t.test('messages, heartbeats included, count from 1 without a gap', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  coordinator.settings.heartbeatMs = 50
  await runTestAgent(t, coordinator, absent)
  await eventually(
    'ten heartbeats',
    () => coordinator.received.filter((message) => message.kind === 'heartbeat').length >= 10,
  )
  t.same(
    coordinator.received.map((message) => message.sequence),
    coordinator.received.map((_, index) => index + 1),
  )
})

void t.test('an idle link is pinged, but not with each heartbeat', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  coordinator.settings.heartbeatMs = 200
  await runTestAgent(t, coordinator, absent)
  const heartbeats = () => coordinator.received.filter(({ kind }) => kind === 'heartbeat').length
  await eventually('ten heartbeats', () => heartbeats() >= 10)

  t.ok(coordinator.pings > 0, 'a coordinator that is gone is noticed')
  t.ok(coordinator.pings < heartbeats(), `${coordinator.pings} pings`)
})

void t.test('an agent leaves a silent coordinator and reconnects', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  coordinator.settings.heartbeatMs = 200
  const agent = await runTestAgent(t, coordinator, absent)
  await eventually('linked', () => agent.isLinked())
  coordinator.mute()
  await coordinator.hello(2)
  await eventually('linked again', () => agent.isLinked())
})

void t.test('a newer apply supersedes the waiting one; each ends in one report', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const agent = await runTestAgent(t, coordinator, absent)
  await eventually('linked', () => agent.isLinked())
  const sent = [1, 2, 3, 4].map((revision) => coordinator.apply(revision, idle))
  const reports = await Promise.all(sent)
  t.same(
    reports.map((report) => report.result),
    ['failed', 'refused', 'refused', 'failed'],
    'the cache is absent, and two applies were never begun',
  )
  t.match(reports[1]?.error, /superseded by revision 3/)
  t.equal(agent.condition().heldRevision, 4)
  coordinator.settings.revision = 4
  t.match(await coordinator.apply(2, idle), { result: 'refused', error: /older than 4/ })
  await coordinator.hello(2)
  await eventually('linked again, and told the revision', () => agent.isLinked())
  t.equal(agent.condition().lockedBecause, null)
  const contradiction = { load: [], labels: [], active: 'cf-1-aaaaaaaa-1' }
  t.match(await coordinator.apply(5, contradiction), {
    result: 'refused',
    error: /does not load it/,
  })
  t.equal(agent.condition().heldRevision, 4, 'a contradictory revision is not held')
})

void t.test('optional messages never delay the others, and do not queue', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  // Longer than the test, so the link is never taken for silent.
  coordinator.settings.heartbeatMs = 60_000
  const link = new CoordinatorLink({
    address: { url: coordinator.url, caFile: null },
    name: 'edge-1',
    key: 'f'.repeat(64),
    joinToken: () => Promise.resolve(undefined),
    describe: () => describe('edge-1', 'f'.repeat(64)),
    condition: () => runningCondition,
    welcome: () => Promise.resolve(),
    receive: () => undefined,
    log: pino({ level: 'silent' }),
  })
  link.start()
  t.teardown(() => link.stop())
  await eventually('linked', () => link.isLive)
  coordinator.mute()
  const request = { at: 0, method: 'GET', url: `/${'u'.repeat(1_000)}`, host: '', status: 200 }
  const how = { bytes: 0, ttfbMs: 1, durationMs: 1, handling: 'hit', backend: '-' } as const
  const one = { ...request, ...how, xid: 1, client: '', groupId: null }
  const transactions = Array.from({ length: 200 }, () => one)
  const lines = {
    kind: 'logLines',
    traceId: newTraceId(),
    stream: 's',
    transactions,
    dropped: 0,
  } as const
  let sent = 0
  // More than the limit at which a link is given up, plus what two kernels buffer.
  for (let at = 0; at < 400; at++) {
    if (link.sendIfClear(lines)) sent += 1
    await nextTurn()
  }
  t.ok(sent > 0 && sent < 400, `${sent} were sent`)
  link.sendCondition()
  coordinator.unmute()
  await eventually('the heartbeat arrives after the sent lines', () =>
    coordinator.received.some(({ kind }) => kind === 'heartbeat'),
  )
  t.equal(coordinator.received.filter(({ kind }) => kind === 'logLines').length, sent)
  await eventually('the link is clear again', () => link.sendIfClear(lines))
  t.equal(coordinator.authorizations.length, 1, 'no reconnect happened')
})
