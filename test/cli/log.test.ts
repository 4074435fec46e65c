/** `log`: requests as lines and as JSON; texts of clients have no effect on a terminal (docs/behaviour.md, Live log). */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { logOrderSubject, logPartSubject } from '../../src/coordinator/bus/subjects.js'
import { resourceRoutes } from '../../src/coordinator/controller/resources.js'
import { openTraffic, type Traffic } from '../../src/coordinator/traffic/traffic.js'
import type { LoggedTransaction } from '../../src/messages/live-log.js'
import { enrol } from '../coordinator/controller/client.js'
import { startController } from '../support/start-controller.js'
import { call, makeHome, type RunOptions } from './run-cli.js'

const hostile = '/\u001b[31mred\u009b\u202e\r\n\u0007'
const request: LoggedTransaction = {
  at: Date.UTC(2026, 0, 2),
  method: 'GET',
  host: 'shop.example',
  url: hostile,
  status: 200,
  bytes: 1,
  ttfbMs: 1.25,
  durationMs: 2,
  handling: 'miss',
  backend: 'origin',
  xid: 7,
  client: '192.0.2.0',
  groupId: null,
}
const parts: LoggedTransaction['parts'] = [
  {
    kind: 'request',
    xid: 7,
    parentXid: 6,
    reason: 'rxreq',
    records: [{ tag: 'ReqURL', text: hostile }],
  },
  { kind: 'fetch', xid: 8, parentXid: 7, reason: 'fetch', records: [] },
]

/** One cache that logs one request per stream, with its records if requested; three lines were dropped before. */
async function startFleet(t: Test) {
  let traffic: Traffic | undefined
  t.teardown(() => traffic?.close())
  const controller = await startController(t, {
    resources: (service, more) => {
      traffic = openTraffic({ service, ...more }, pino({ level: 'silent' }))
      return [...resourceRoutes(service), ...traffic.routes]
    },
  })
  const { bus } = controller.service
  const agentId = await enrol(controller, 'edge', {
    description: { capabilities: ['report', 'deploy', 'log'] },
  })
  bus.subscribe(logOrderSubject, ({ orders }) => {
    for (const { stream, forMs, wanted } of orders)
      if (forMs > 0)
        setImmediate(() => {
          const told = wanted.withRecords ? { ...request, parts, recordsLeftOut: 2 } : request
          const part = { agentId, stream, dropped: 0, ended: null, transactions: [told] }
          bus.publish(logPartSubject(agentId), part)
        })
  })
  const home = await makeHome(t)
  const environment = {
    ...home,
    CACHEFLEET_SERVER: controller.base,
    CACHEFLEET_TOKEN: await controller.login(),
  }
  return (words: readonly string[], more: Partial<RunOptions> = {}) =>
    call(['log', '--limit', '1', ...words], { environment, ...more })
}

void t.test('a request is one line, and control characters in it are escaped', async (t) => {
  const run = await startFleet(t)
  for (const terminal of [true, false]) {
    const { code, out } = await run([], { terminal })
    t.equal(code, 0)
    t.equal(
      out,
      '00:00:00.000  edge  200  miss      1.3 ms  GET shop.example/\\u001b[31mred\\u009b\\u202e\\u000d\\u000a\\u0007\n',
    )
  }
  const { out: json } = await run(['--json'])
  t.match(JSON.parse(json), { url: hostile, agent: { name: 'edge' }, backend: 'origin' })
  t.notMatch(json.slice(0, -1), /[\p{Cc}\u202e]/u)
})

void t.test('with --detail the records follow the request', async (t) => {
  const run = await startFleet(t)
  const { out } = await run(['--detail'], { terminal: true })
  t.same(out.split('\n').slice(1), [
    '  request 7  rxreq',
    '    ReqURL        /\\u001b[31mred\\u009b\\u202e\\u000d\\u000a\\u0007',
    '  fetch 8  fetch',
    '  2 records more were left out',
    '',
    '',
  ])
  const { out: json } = await run(['--detail', '--json'])
  t.match(JSON.parse(json), { records: parts, recordsLeftOut: 2 })
})

void t.test('a refusal is printed with its position', async (t) => {
  const run = await startFleet(t)
  const { code, err } = await run(['-q', 'ReqHeader:Cookie ~ "a"'])
  t.not(code, 0)
  t.match(err, 'q, position 1: Cookie is masked, so it is not compared')
  t.match((await run(['--csv'])).err, '--csv does not go with log')
})
