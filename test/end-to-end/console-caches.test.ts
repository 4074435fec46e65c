/** A real cache in the console: its description, status, settings and commands (docs/behaviour.md, Console caches). */
import { hostname } from 'node:os'
import t, { type Test } from 'tap'
import { toObjectId } from '../../src/resources/object-id.js'
import { callsTo } from '../coordinator/console/console-client.js'
import { eventually } from '../support/eventually.js'
import { agentName, startHarness, untilAgent, type Harness } from './harness.js'

interface ConsoleHarness extends Harness {
  /** Calls a path below the cache; throws if the answer is not 200. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>
  /** Sends text to the command call, and returns the answer's message. */
  readonly send: (command: string) => Promise<unknown>
}

async function startConsoleHarness(t: Test): Promise<ConsoleHarness> {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  const { id } = await untilAgent(harness, 'Running')
  const { cache } = harness
  await eventually('it is taken over', async () => !(await cache.ask('vcl.list')).includes('boot'))
  const call = callsTo(harness.coordinator.base)
  const at = `/v1/cache/${toObjectId('cache', id)}`
  const ask: ConsoleHarness['ask'] = async (method, path, body) => {
    const { status, text, body: answer } = await call(method, `${at}${path}`, { body })
    if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`)
    return answer
  }
  const send = async (text: string) => {
    const answer = await call('POST', `${at}/engineadm`, { text, type: 'text/plain' })
    return answer.body['message']
  }
  return Object.assign(harness, { ask, send })
}

void t.test('a real cache in the console', async (t) => {
  const harness = await startConsoleHarness(t)
  await t.test('it is described by its banner', (t) => readDescription(t, harness))
  await t.test('its status is that of its CLI', (t) => readStatus(t, harness))
  await t.test('parameters are set, shown and reset', (t) => setParameters(t, harness))
  await t.test('a value that the cache shows in another form is consistent', (t) =>
    setManyForms(t, harness),
  )
  await t.test('the health of a backend is set by its name', (t) => setHealth(t, harness))
  await t.test('commands are answered as by varnishadm', (t) => sendCommands(t, harness))
  await t.test('settings made by commands are kept', (t) => keepWhatCommandsSet(t, harness))
  await t.test('without its agent, it has no status', (t) => loseAgent(t, harness))
})

async function readDescription(t: Test, { ask, cache }: ConsoleHarness): Promise<void> {
  const banner = /varnish-(\S+) revision (\w+)/.exec(await cache.adm('banner'))
  t.match(await ask('GET', ''), {
    agentHost: hostname(),
    agentPort: cache.httpPort,
    dash_n: cache.workDir,
    name: `${hostname()}:${cache.httpPort}_${cache.workDir}`,
    engineName: 'varnish',
    engineVersion: banner?.[1],
    engineRevision: banner?.[2],
    agentName,
    status: 'running',
  })
}

async function readStatus(t: Test, { ask }: ConsoleHarness): Promise<void> {
  const status = await ask('GET', '/status')
  t.match(status, {
    responseStatus: 200,
    responseString: 'OK',
    ping: /^PONG \d+ 1\.0$/,
    status: 'Child in state running',
    panic: /^Child has not panicked/,
    // Set by the test at its start.
    paramChangeset: { cc_command: { value: /tcc/, default: String, unit: '', description: /./ } },
    vclList: { vcls: [{ name: 'cf-idle', status: 'active', refs: '0' }] },
  })
  t.same({ ...(await ask('GET', '/summary')), ping: '' }, { ...status, ping: '' })
}

async function setParameters(t: Test, { ask, cache }: ConsoleHarness): Promise<void> {
  const at = '/params/default_ttl'
  t.match(await ask('PUT', at, { value: '60' }), { value: '60.000', unit: 'seconds' })
  t.match(await cache.adm('param.show', 'default_ttl'), /Value is: 60\.000/)
  t.match(await ask('GET', '/status'), { paramChangeset: { default_ttl: { value: '60.000' } } })
  t.match(await ask('GET', '/params'), { default_ttl: { value: '60.000', default: '120.000' } })
  t.match(await ask('DELETE', at), { value: '120.000' })
  const { paramChangeset } = await ask('GET', '/status')
  t.notHas(paramChangeset, { default_ttl: {} })
}

const forms: readonly (readonly [string, string])[] = [
  ['default_ttl', '7'],
  ['default_grace', '1.25'],
  ['workspace_client', '131072'],
  ['http_resp_size', '40960b'],
  ['prefer_ipv6', 'Yes'],
  ['thread_pool_min', '12'],
  ['feature', '+http2'],
  ['vsl_mask', '-Hash'],
  ['pool_req', '10, 100, 10'],
]

async function setManyForms(t: Test, { ask }: ConsoleHarness): Promise<void> {
  for (const [name, value] of forms) await ask('PUT', `/params/${name}`, { value })
  t.same(await ask('GET', '/consistency'), {
    responseStatus: 200,
    responseString: 'OK',
    vcl_name: 'cf-idle',
    vcl_consistent: true,
    param_changeset: {},
    param_consistent: true,
  })
  for (const [name] of forms) await ask('DELETE', `/params/${name}`)
}

async function setHealth(t: Test, { ask }: ConsoleHarness): Promise<void> {
  const read = async () => {
    const { list } = await ask('GET', '/backends')
    return (list as { name: string; adminHealth: string }[]).map((one) => [
      one.name,
      one.adminHealth,
    ])
  }
  t.match(await ask('PUT', '/setbackend/default/sick'), {
    responseStatus: 200,
    responseString: 'cf-idle.default: sick',
  })
  t.same(await read(), [['cf-idle.default', 'sick']])
  t.match(await ask('PUT', '/setbackend/default/probe'), { responseString: /: auto$/ })
  t.not((await read())[0]?.[1], 'sick')
}

async function sendCommands(t: Test, { send, cache }: ConsoleHarness): Promise<void> {
  const lines = ['status', 'banner', 'pid', 'param.show default_ttl', 'storage.list', 'vcl.deps']
  for (const line of [...lines, 'help', 'vcl.show cf-idle'])
    t.equal(String(await send(line)).trim(), (await cache.adm(...line.split(' '))).trim(), line)
  t.match(await send('param.show no_such'), /no_such/)
}

async function keepWhatCommandsSet(t: Test, harness: ConsoleHarness): Promise<void> {
  const { ask, send, cache, api } = harness
  t.equal(await send('param.set default_keep 44'), '')
  await cache.adm('param.reset', 'default_keep')
  await eventually('it is set again', async () =>
    (await cache.ask('param.show', 'default_keep')).includes('Value is: 44.000'),
  )
  t.equal(await send('param.reset default_keep'), '')
  t.equal(await send('ban req.url ~ ^/by-command$'), '')
  t.match(await cache.adm('ban.list'), /by-command/)
  t.match(await ask('GET', '/bans'), { list: [{ expression: /by-command/ }] })
  const { text } = await api.call('GET', '/invalidations?sort=id:desc&take=1')
  t.match(text, /by-command/)
}

async function loseAgent(t: Test, { ask, agent }: ConsoleHarness): Promise<void> {
  await agent.stop()
  t.match(await ask('GET', '/status'), { responseStatus: 503, ping: '' })
  t.match(await ask('GET', '/consistency'), { responseStatus: 503, param_consistent: false })
  t.match(await ask('GET', ''), { agentName }, 'its description remains')
}
