/** Parameters, backends and commands with hidden commands, through both APIs: the cache remains unchanged. */
import t, { type Test } from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { callsTo, type ConsoleClient } from '../coordinator/console/console-client.js'
import { eventually } from '../support/eventually.js'
import { agentName, startHarness, untilAgent, type Harness } from './harness.js'
import { readFacts } from './untouched.js'

const long = 'x'.repeat(100_000)

const values: readonly unknown[] = [
  ...['1\nparam.set default_grace 1', '1\rstop', '1\0', 'a\u2028b', '\ud800', '1\tb'],
  ...['<<', '<< EOF', '1 << EOF\nx\nEOF', '"<<"', '\\x3c<', '\\074\\074', '1<<2'],
  ...['1" "2', '"1', "1' '2", '1\\nstop', '1 && stop', '1; stop', '$(reboot)', '`reboot`'],
  ...['', 'soon', '-5', '-', '%s%n', 'é\u{1f600}', long, 5, true, ['1'], { a: 1 }],
]

/** As written in a path. */
const parameters = [
  ...[
    'no_such_param',
    '-j',
    '*',
    'changed',
    'Default_ttl',
    'CC_COMMAND',
    '%3c%3c',
    '%22default_ttl%22',
  ],
  ...['default_ttl%201%0aparam.set%20default_grace', 'default_ttl%00', '..%2f..', 'a'.repeat(2000)],
  ...['cc_command', 'cc_comman%64', 'cc_warnings', 'vcc_allow_inline_c', 'vcc_unsafe_path'],
  ...['vcc_feature', 'vcl_path', 'vmod_path', 'user', 'group', 'jail'],
]

const backends = [
  ...['nosuch', '*', '*.*', 'def*', 'cf-idle.*', 'default%20sick%0astop', 'default%0d', 'a%00b'],
  ...[
    '%3c%3c',
    '%3c%3c%20EOF',
    'default%22',
    '%22default%22',
    '..%2f..',
    '%5cx64efault',
    'a'.repeat(2000),
  ],
]

const refused = [
  ...[
    'ping\nparam.set default_ttl 1',
    'ping\r\nstop',
    'ping\rstop',
    'ping\0stop',
    'ping\u2028stop',
  ],
  ...['"ping\\nstop"', 'ping \\nstop', 'ping "\\x0astop"', 'ping "\\012stop"', 'ping \\', 'ping "'],
  ...['ping << EOF', 'param.show << EOF', 'param.show "<<" EOF', 'param.show "<< EOF"', '<< ping'],
  ...[
    'param.show \\x3c< EOF',
    'param.show \\74\\074 EOF',
    'param.show a<<b',
    '"param.show << EOF"',
  ],
  'vcl.inline x << EOF\nvcl 4.1; backend default none;\nEOF',
  ...[
    'param.set default_ttl << EOF',
    'param.set default_ttl "1\\nstop"',
    'param.set default_ttl "1 && 2"',
  ],
  ...['param.set cc_command x', 'param.set cc_comman\\x64 x', '"param.set" cc_command x'],
  ...['-param.set cc_command x', 'PARAM.SET default_ttl 1', 'param.set  vcl_path /'],
  ...['param.set default_ttl', 'param.set', 'param.set default_ttl 1 2', 'param.reset vcl_path'],
  ...[
    'param.reset',
    'backend.set_health * sick',
    'backend.set_health def* sick',
    'backend.set_health',
  ],
  ...[
    'stop',
    '-stop',
    'start',
    'quit',
    'auth abc',
    'panic.clear',
    'ping; stop',
    'debug.panic.worker',
    'no.such',
  ],
  ...['vcl.load x /etc/passwd', 'vcl.use boot', 'vcl.discard *', 'vcl.label a cf-idle', ''],
  ...[
    'vcl.inline x "vcl 4.1; backend default none;"',
    'vcl.state cf-idle cold',
    `ping ${long}`,
    long,
  ],
]

/** Sent unchanged; their special characters have no effect. */
const harmless = [
  ...['ping && stop', 'ping $(reboot)', 'status | stop', 'param.show default_ttl && stop'],
  ...[
    'param.show %s%n',
    'vcl.show ../../etc/passwd',
    'vcl.show \\"',
    'help stop',
    'panic.show -j x',
  ],
  ...[
    'backend.list -p *.*',
    `vcl.show ${'a'.repeat(8000)}`,
    'ban.list é\u{1f600}',
    'pid #',
    '  ping',
  ],
]

interface Api {
  readonly name: string
  readonly setParam: (name: string, value: unknown) => Promise<{ readonly status: number }>
  readonly setHealth: (backend: string, health: string) => Promise<{ readonly status: number }>
  readonly send: readonly ((command: string) => Promise<{ status: number; text: string }>)[]
}

void t.test('hostile settings and commands', async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  await untilAgent(harness, 'Running')
  const { api, cache, coordinator } = harness
  await eventually('it is taken over', async () => !(await cache.ask('vcl.list')).includes('boot'))
  const { id = 0 } = (await api.findAgent(agentName)) ?? {}
  const before = await readFacts(cache)

  for (const one of [controllerOf(harness, id), consoleOf(callsTo(coordinator.base), id)]) {
    const { name } = one
    await t.test(`parameters by ${name}`, (t) => tryParameters(t, one))
    await t.test(`backends by ${name}`, (t) => tryBackends(t, one))
    await t.test(`commands by ${name}`, (t) => tryCommands(t, one))
    t.same(await readFacts(cache), before, `the cache is as it was before ${name}`)
  }
})

function controllerOf({ api }: Harness, id: number): Api {
  const at = `/agents/${id}`
  return {
    name: 'the controller',
    setParam: (name, value) => api.call('PUT', `${at}/params/${name}`, { value }),
    setHealth: (backend, health) => api.call('PUT', `${at}/backends/${backend}/${health}`),
    send: [(command) => api.call('POST', `${at}/command`, { command })],
  }
}

function consoleOf(call: ConsoleClient['call'], id: number): Api {
  const at = `/v1/cache/${toObjectId('cache', id)}`
  return {
    name: 'the console',
    setParam: (name, value) => call('PUT', `${at}/params/${name}`, { body: { value } }),
    setHealth: (backend, health) => call('PUT', `${at}/setbackend/${backend}/${health}`),
    send: [
      (text) => call('POST', `${at}/engineadm`, { text, type: 'text/plain' }),
      (command) => call('POST', `${at}/engineadm`, { body: { command } }),
    ],
  }
}

async function tryParameters(t: Test, { setParam }: Api): Promise<void> {
  for (const [row, value] of values.entries())
    t.equal((await setParam('default_ttl', value)).status, 400, `value ${row}`)
  for (const name of parameters) {
    const { status } = await setParam(name, '1')
    t.ok(status === 400 || status === 404, `${name.slice(0, 60)}: ${status}`)
  }
}

async function tryBackends(t: Test, { setHealth }: Api): Promise<void> {
  for (const backend of backends) {
    const { status } = await setHealth(backend, 'sick')
    t.ok(status === 400 || status === 404, `${backend.slice(0, 60)}: ${status}`)
  }
  for (const health of ['dead', '*', 'sick%0astop', '%3c%3c'])
    t.equal((await setHealth('default', health)).status, 400, health)
}

/** Messages name row numbers, since the name of a test is one line. */
async function tryCommands(t: Test, { send }: Api): Promise<void> {
  for (const [way, sendOne] of send.entries()) {
    for (const [row, command] of refused.entries())
      t.equal((await sendOne(command)).status, 400, `way ${way}, refused ${row}`)
    for (const [row, command] of harmless.entries())
      t.equal((await sendOne(command)).status, 200, `way ${way}, harmless ${row}`)
    t.match(await sendOne('ping'), { status: 200, text: /PONG/ }, 'the next answer is its own')
  }
}
