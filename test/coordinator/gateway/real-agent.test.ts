/** The real agent and a real varnishd behind the real gateway: both ends of the link agree. */
import { createHash } from 'node:crypto'
import { pino } from 'pino'
import t from 'tap'
import { startAgent, type RunningAgent } from '../../../src/agent/agent.js'
import { loadLimits } from '../../../src/vcl/compile-limits.js'
import { createContext } from '../../../src/context.js'
import { notifyDesiredChanged } from '../../../src/coordinator/agents/agent-hints.js'
import { instructAgent } from '../../../src/coordinator/agents/instruct.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { findAgent, type AgentRecord } from '../../../src/coordinator/fleet/agent-queries.js'
import { version } from '../../../src/version.js'
import type { DesiredEngine } from '../../../src/vcl/desired-engine.js'
import { answering, fetchMark, listVcls, serving } from '../../support/observe-cache.js'
import { attachTo, makeFolder, type LogLine } from '../../agent/run-agent.js'
import { eventually } from '../../support/eventually.js'
import { startVarnishd } from '../../support/varnishd.js'
import { startGateway } from './link-agent.js'
import { makeToken, startService } from './service.js'

const service = await startService(t, { heartbeatMs: 1000 })
const { queries } = service.store
const { host, gateway } = await startGateway(t, service)
const token = await makeToken(service, { maxUses: 1 })
const cache = await startVarnishd(t, { vcl: answering('foreign') })
const stateDir = await makeFolder(t)
const lines: LogLine[] = []
const first = await start()

function start(): Promise<RunningAgent> {
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) },
  ) // our own log
  const config = {
    agentVersion: version,
    name: 'edge-1',
    tags: ['static-a'],
    readOnly: false,
    coordinator: { url: `ws://${host}`, caFile: null },
    joinToken: () => Promise.resolve(token),
    engine: attachTo(cache),
    http: { host: '127.0.0.1', port: cache.httpPort },
    takeover: 'registration' as const,
    warmupMs: 10_000,
    furtherCounters: [],
    metricsListen: null,
    checks: { program: null, budgetLimits: loadLimits },
    stateDir,
  }
  return startAgent(config, log)
}

function seen(what: string, look: (agent: AgentRecord) => boolean): Promise<AgentRecord> {
  return eventually(what, async () => {
    const agent = await findAgent(queries, { kind: 'all' }, 1)
    return agent && look(agent) ? agent : null
  })
}

async function publish(text: string): Promise<string> {
  const sha = createHash('sha256').update(text).digest('hex')
  await queries
    .insertInto('sources')
    .values({ sha, text, sourceMap: '{}', loads: 1, createdAt: 0 })
    .execute()
  return sha
}

async function desire(revision: number, desired: DesiredEngine, traceId: string): Promise<void> {
  await queries
    .updateTable('agents')
    .set({ desiredRevision: revision, desired: JSON.stringify(desired) })
    .execute()
  notifyDesiredChanged(service, [1], traceId)
}

await t.test('the agent enrols, is Running and holds the idle VCL', async (t) => {
  const agent = await seen('revision 1 is applied', (one) => one.attempted?.revision === 1)
  t.match(agent, {
    name: 'edge-1',
    state: agentStates.Running,
    engineProduct: 'varnish',
    engineVersion: '7.1.1',
    attempted: { result: 'applied', error: null },
    effectiveRevision: 1,
  })
  t.same(
    agent.tags.map((tag) => [tag.name, tag.static]),
    [['static-a', true]],
  )
  t.same(await listVcls(cache), ['cf-idle'])
})

const program = { name: 'cf-1-aaaaaaaa-1', sha: await publish(answering('v1')) }

await t.test('the agent fetches a text, serves it and logs the trace id of the call', async (t) => {
  await desire(2, serving(program), 'trace-of-the-deploy')
  await seen('revision 2 is applied', (one) => one.attempted?.revision === 2)
  t.equal((await fetchMark(cache)).mark, 'v1')
  t.ok(
    lines.some((line) => line.traceId === 'trace-of-the-deploy' && line.level === 30),
    'the trace id is in its log at info',
  )
})

await t.test('the agent reports the compiler error and keeps serving', async (t) => {
  const broken = { name: 'cf-1-bbbbbbbb-1', sha: await publish('vcl 4.1;\nnonsense') }
  await desire(3, { ...serving(program), load: [program, broken] }, 'trace-of-the-break')
  const agent = await seen('revision 3 failed', (one) => one.attempted?.revision === 3)
  t.match(agent.attempted, { result: 'failed', error: /nonsense/ })
  t.equal((await fetchMark(cache)).mark, 'v1')
  await desire(4, serving(program), 'trace-of-the-repair')
  await seen('revision 4 is applied', (one) => one.effectiveRevision === 4)
})

await t.test('the agent answers questions', async (t) => {
  const asked = { agentId: 1, timeoutMs: 20_000 }
  const context = createContext(service.log)
  const ask = (question: Parameters<typeof instructAgent>[2]['question']) =>
    instructAgent(service, context, { ...asked, question })
  t.match(JSON.stringify(await ask({ kind: 'query', query: 'vcls' })), program.name)
  t.match(JSON.stringify(await ask({ kind: 'query', query: 'params' })), /default_ttl/)
  t.match(JSON.stringify(await ask({ kind: 'command', line: 'ping' })), /PONG/)
})

await t.test('the agent reconnects with its key after a restart and changes nothing', async (t) => {
  await first.stop()
  await eventually('the link is gone', () => gateway.sessionCount === 0)
  lines.length = 0

  const again = await start()
  t.teardown(() => again.stop())

  await eventually('the agent is linked', () => gateway.sessionCount === 1)
  await seen('revision 4 is effective', (one) => one.effectiveRevision === 4)
  t.same(
    lines.filter(({ msg }) => msg === 'engine command'),
    [],
  )
  t.equal((await fetchMark(cache)).mark, 'v1')

  await cache.stop('SIGKILL')
  await seen('it is Failing', (one) => one.state === agentStates.Failing)
  await cache.restart()
  await seen('it is Running', (one) => one.state === agentStates.Running)
  await eventually('the VCL is back', async () => (await fetchMark(cache)).mark === 'v1')
})
