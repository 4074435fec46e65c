/** `events` and `apilogs tail`: their output, reconnects, and exit codes. */
import type { ChildProcess } from 'node:child_process'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { describeEvent } from '../../src/cli/event-line.js'
import { readStreamEvents, type StreamEvent } from '../../src/cli/event-stream.js'
import { resourceRoutes } from '../../src/coordinator/controller/resources.js'
import { enrol } from '../coordinator/controller/client.js'
import { addLog } from '../coordinator/events/events.contract.js'
import { eventually } from '../support/eventually.js'
import { administrator, startController } from '../support/start-controller.js'
import { call, endOf, makeHome, startClient, type Environment } from './run-cli.js'

async function startHome(t: Test) {
  const controller = await startController(t, { resources: resourceRoutes, withEvents: true })
  const environment = await makeHome(t)
  const { user, password } = administrator
  const words = ['login', '--server', controller.base, '--user', user, '--password-stdin']
  const ran = await call(words, { environment, input: `${password}\n` })
  t.equal(ran.code, 0, ran.err)
  return { controller, environment }
}

/** Runs until stopped; `lines` grows. */
function start(t: Test, words: readonly string[], environment: Environment) {
  const child: ChildProcess = startClient(words, environment)
  const ended = endOf(child)
  const printed = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    ended,
    printed,
    lines: () =>
      printed.out
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>), // objects
  }
}

void t.test('a stream is parsed the same in any chunks', async (t) => {
  const text =
    ':\nid: 7\n\nid: 8\nevent: agent\ndata: {"a":"ä\\n"}\n\nid: 9\nevent: x\ndata: {}\n\nid: 1'
  const cut = fc.uniqueArray(fc.nat(text.length), { maxLength: 6 }).map((places) => {
    const at = [0, ...places.toSorted((a, b) => a - b), text.length]
    return at.slice(1).map((end, index) => text.slice(at[index], end))
  })
  await fc.assert(
    fc.asyncProperty(cut, async (pieces) => {
      const read: StreamEvent[] = []
      for await (const event of readStreamEvents(toStream(pieces), '')) read.push(event)
      t.strictSame(read, [
        { id: '7', event: undefined, data: '' },
        { id: '8', event: 'agent', data: '{"a":"ä\\n"}' },
        { id: '9', event: 'x', data: '{}' },
      ])
    }),
    { numRuns: 50 },
  )
})

async function* toStream(pieces: readonly string[]): AsyncGenerator<string> {
  for (const piece of pieces) yield await Promise.resolve(piece)
}

void t.test('events continues when its token expires, without gap or repeat', async (t) => {
  const { controller, environment } = await startHome(t)
  await addLog(controller, 0)
  const client = start(
    t,
    ['events', '--json', '--after', '0', '--type', 'agent,apilog'],
    environment,
  )
  await eventually('the past', () => client.lines().some(({ data }) => hasText(data, 'call 0')))

  controller.advance(601_000)
  await enrol(controller, 'edge-1')
  await eventually('the agent', () => client.lines().some(({ data }) => hasText(data, 'edge-1')))

  const ids = client.lines().map(({ id }) => Number(id))
  t.strictSame(
    ids,
    ids.map((_, index) => index + 1),
  )
  t.equal(client.printed.err, '')
  client.child.kill('SIGINT')
  t.equal(await client.ended, exitCodes.interrupted)
})

void t.test('events ends with the session, with one line on standard error', async (t) => {
  const { controller, environment } = await startHome(t)
  const client = start(t, ['events', '--json'], environment)
  await eventually('it is subscribed', () => controller.hub.count > 0)

  await call(['logout'], { environment })

  t.equal(await client.ended, exitCodes.denied)
  t.match(JSON.parse(client.printed.err), { errorMsg: /log/ })
})

void t.test('apilogs tail prints the last entries and then each new one', async (t) => {
  const { controller, environment } = await startHome(t)
  for (let at = 0; at < 5; at++) await addLog(controller, at)
  const client = start(t, ['apilogs', 'tail', '--lines', '2', '--json'], environment)
  await eventually('the last two', () => client.lines().length >= 2)

  for (let at = 5; at < 8; at++) await addLog(controller, at)

  await eventually('the new ones', () => client.lines().some(({ msg }) => msg === 'call 7'))
  const calls = client.lines().filter(({ path }) => path === '/api/v1/tags')
  t.strictSame(
    calls.map(({ msg }) => msg),
    ['call 3', 'call 4', 'call 5', 'call 6', 'call 7'].slice(5 - calls.length),
  )
})

void t.test('an invalid option ends with 2 and names the valid form', async (t) => {
  const environment = await makeHome(t)
  for (const [words, reason] of [
    [['events', '--type', 'user'], /known are agent/],
    [['events', '--after', '-1'], /id of an event/],
    [['events', '--csv'], /--json/],
    [['apilogs', 'tail', '--lines', 'x'], /0 to 1000/],
    [['apilogs', 'tail', '--csv'], /--json/],
  ] as const)
    t.match(await call(words, { environment }), { code: exitCodes.usage, err: reason })
})

void t.test('a line names the object and its state', (t) => {
  const describe = (event: string, data: Record<string, unknown>) =>
    describeEvent({ id: 1, event, data })
  const agent = { id: 3, name: 'edge-1', stateName: 'Running', tags: [{ id: 1, name: 'eu' }] }
  const config = { desired: { revision: 7 }, effective: { revision: 6 } }
  const places = { wanted: 0, applying: 2, applied: 3, failed: 0 }
  t.equal(
    describe('agent', { ...agent, config }),
    'agent  edge-1  Running  config revision 6/7  tags eu',
  )
  t.equal(describe('agent', { id: 3, deleted: true }), 'agent  3  deleted')
  t.equal(
    describe('deployment', {
      id: 2,
      name: 'all',
      stateName: 'Deploying',
      vclgroup: { id: 1, name: 'shop', stateName: 'Deploying', places },
    }),
    'deployment  all  Deploying  group shop: Deploying, 2 applying, 3 applied',
  )
  t.equal(
    describe('apilog', { account: 'root', method: 'PUT', path: '/x', status: 200, msg: 'a\x1bb' }),
    'apilog  root PUT /x 200 a\\u001bb',
  )
  t.equal(describe('file', { id: 2, name: 'a.vcl', version: 3 }), 'file  a.vcl  version 3')
  t.equal(describe('domain', { id: 2, fqdn: 'a.example' }), 'domain  a.example')
  t.equal(describe('reset', { reason: 'too old' }), 'reset  too old')
  t.end()
})

function hasText(data: unknown, text: string): boolean {
  return JSON.stringify(data).includes(text)
}
