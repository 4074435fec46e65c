/** Parameters and backend health through the API, with a real gateway, agent and cache (docs/behaviour.md, Cache settings). */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { startAgent } from '../../../src/agent/agent.js'
import { loadLimits } from '../../../src/vcl/compile-limits.js'
import type { DesiredEngine } from '../../../src/vcl/desired-engine.js'
import { version } from '../../../src/version.js'
import { listVcls } from '../../support/observe-cache.js'
import { attachTo, makeFolder } from '../../agent/run-agent.js'
import { eventually } from '../../support/eventually.js'
import { startVarnishd, type Varnishd } from '../../support/varnishd.js'
import { startGateway } from '../gateway/link-agent.js'
import { makeToken } from '../gateway/service.js'
import { startClient, type Client, type Json } from './client.js'

interface Harness {
  readonly client: Client
  readonly cache: Varnishd
  readonly agent: Json
  /** Paths are below the agent. */
  readonly put: (status: number, path: string, body?: Json) => Promise<Json>
  readonly command: (status: number, line: string) => Promise<Json>
  readonly readDesired: () => Promise<DesiredEngine>
}

async function startHarness(t: Test): Promise<Harness> {
  const client = await startClient(t)
  const { service } = client
  const log = pino({ level: 'silent' })
  const gateway = await startGateway(t, {
    ...service,
    log,
    warnings: [],
    moveClock: () => undefined,
  })
  const cache = await startVarnishd(t)
  const running = await startAgent(
    {
      agentVersion: version,
      name: 'edge-1',
      tags: ['web'],
      readOnly: false,
      coordinator: { url: `ws://${gateway.host}`, caFile: null },
      joinToken: async () => makeToken(service, { maxUses: 1 }),
      engine: attachTo(cache),
      http: { host: '127.0.0.1', port: cache.httpPort },
      takeover: 'registration',
      warmupMs: 0,
      furtherCounters: [],
      metricsListen: null,
      checks: { program: null, budgetLimits: loadLimits },
      stateDir: await makeFolder(t),
    },
    log,
  )
  t.teardown(() => running.stop())
  const agent = await eventually('the agent is Running with the idle VCL', async () => {
    const [one] = await client.list('/agents')
    const isReady = one?.['stateName'] === 'Running' && (await listVcls(cache)).includes('cf-idle')
    return isReady ? one : undefined
  })
  const at = `/agents/${String(agent['id'])}`
  return {
    client,
    cache,
    agent,
    put: (status, path, body) => client.expect(status, 'PUT', `${at}/${path}`, body),
    command: (status, command) => client.expect(status, 'POST', `${at}/command`, { command }),
    readDesired: async () => {
      const { desired } = await service.store.queries
        .selectFrom('agents')
        .select('desired')
        .executeTakeFirstOrThrow()
      return JSON.parse(desired) as DesiredEngine // written only by recomposeDesired
    },
  }
}

async function readParam({ cache }: Harness, name: string): Promise<string> {
  return /Value is: (.*)/.exec(await cache.adm('param.show', name))?.[1]?.trim() ?? ''
}

/** Admin health by `<VCL>.<backend>`, from the API. */
async function readHealth({ client, agent }: Harness): Promise<Record<string, unknown>> {
  const rows = await client.list(`/agents/${String(agent['id'])}/backends`)
  return Object.fromEntries(rows.map((row) => [String(row['name']), row['adminHealth']]))
}

async function untilSettled({ client, agent }: Harness): Promise<void> {
  await eventually('the desired revision is effective', async () => {
    const { config } = await client.expect(200, 'GET', `/agents/${String(agent['id'])}`)
    const { desired, effective } = config as Record<string, Json> // as in the schema of agents
    return desired?.['revision'] === effective?.['revision']
  })
}

void t.test('a parameter can be set, is kept, and can be reset', async (t) => {
  const harness = await startHarness(t)
  const { put, command } = harness

  t.match(await put(200, 'params/default_ttl', { value: '10' }), {
    value: '10.000',
    default: '120.000',
    unit: 'seconds',
  })
  t.equal(await readParam(harness, 'default_ttl'), '10.000 [seconds]')
  t.match(await harness.readDesired(), { params: [{ name: 'default_ttl', value: '10' }] })

  await t.test(
    'a refused value keeps the old one and returns the message of the engine',
    async (t) => {
      t.match(await put(400, 'params/default_ttl', { value: '-1' }), {
        errorKey: 'agent',
        errorMsg: /Must be greater or equal to 0\.000/,
      })
      t.equal(await readParam(harness, 'default_ttl'), '10.000 [seconds]')
      t.match(await put(404, 'params/nope', { value: '1' }), {
        errorMsg: /nope was not found: Unknown parameter "nope"/,
      })
      t.same((await harness.readDesired()).params, [{ name: 'default_ttl', value: '10' }])
      t.match(await put(200, 'params/default_ttl', {}), { value: '10.000' }, 'no value, no change')
    },
  )

  await t.test('forbidden parameters are refused in any spelling', async (t) => {
    for (const name of ['cc_command', 'vcl_path', 'vmod_path', 'vcc_unsafe_path', 'user', 'jail'])
      t.match(await put(400, `params/${name}`, { value: 'x' }), { errorMsg: /anyone/ })
    for (const line of [
      'param.set cc_command x',
      'param.set "cc_command" x',
      'param.set cc\\x5fcommand x',
      'param.set -j cc_command x',
      'param.reset cc_command',
    ])
      t.match(await command(400, line), { errorKey: 'agent' })
    for (const value of ['a\nb', 'x << y', 'x'.repeat(2000)])
      await put(400, 'params/default_ttl', { value })
    await put(400, 'params/Default', { value: '1' })
    await put(400, 'params/default_ttl', { value: 5 })
    await put(400, 'params/default_ttl', { valeu: '5' })
  })

  await t.test('a command that sets a parameter has the same effect', async (t) => {
    t.same(await command(200, 'param.set default_grace 20'), { message: '' })
    t.match(await command(200, 'param.set default_grace never'), { message: /default_grace/ })
    t.match(await command(200, 'param.set nope 1'), { message: /Unknown parameter "nope"/ })
    t.match(await command(400, 'param.set default_grace'), { errorMsg: /param\.set <param>/ })
    t.same((await harness.readDesired()).params, [
      { name: 'default_grace', value: '20' },
      { name: 'default_ttl', value: '10' },
    ])
    t.same(await command(200, 'param.reset default_grace'), { message: '' })
    t.match(await readParam(harness, 'default_grace'), /\(default\)/)
  })

  await t.test('a changed parameter is healed, and removed by a reset', async (t) => {
    await untilSettled(harness)
    await harness.cache.adm('param.set', 'default_ttl', '5')
    await eventually('the parameter is healed', async () => {
      return (await readParam(harness, 'default_ttl')) === '10.000 [seconds]'
    })
    t.match(await put(200, 'params/default_ttl', { value: null }), { value: '120.000' })
    t.match(await readParam(harness, 'default_ttl'), /\(default\)/)
    t.equal((await harness.readDesired()).params, undefined)
  })
})

const source = (mark: string) => `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "9"; }
backend spare { .host = "127.0.0.1"; .port = "9"; }
sub vcl_recv { set req.http.X-Mark = "${mark}"; if (req.url == "/s") { set req.backend_hint = spare; } }
`

void t.test('the health of a backend can be set, survives deploys and can be reset', async (t) => {
  const harness = await startHarness(t)
  const { client, put, command } = harness
  t.match(await put(200, 'backends/default/sick'), { backends: ['cf-idle.default'] })
  const [tag] = await client.list('/tags')
  const file = await client.expect(201, 'POST', '/vcls', { name: 'main', source: source('one') })
  const deployment = await client.expect(201, 'POST', '/deployments', {
    name: 'web',
    tags: [{ id: tag?.['id'] }],
  })
  const group = await client.expect(201, 'POST', '/vclgroups', {
    name: 'site',
    mainVCL: { id: file['id'] },
    deployments: [{ id: deployment['id'] }],
  })
  const groupId = Number(group['id'])
  const deploy = () => client.expect(200, 'PUT', `/vclgroups/${groupId}/deploy`)
  await deploy()
  const [first] = (await listVcls(harness.cache)).filter((name) => name !== 'cf-idle')
  t.match(await readHealth(harness), {
    [`${first}.default`]: 'sick',
    [`${first}.spare`]: 'healthy',
  })

  await t.test('the health for one group overrides the health for all groups', async (t) => {
    const auto = await put(200, `backends/${groupId}.default/probe`)
    t.match(auto, { name: `${groupId}.default`, health: 'auto', backends: [`${first}.default`] })
    t.match(await readHealth(harness), { [`${first}.default`]: 'healthy' })
    t.same((await harness.readDesired()).health, [
      { backend: 'default', health: 'sick', groups: null },
      { backend: 'default', health: 'auto', groups: [groupId] },
    ])
    await put(200, 'backends/default/sick')
    t.equal((await harness.readDesired()).health?.length, 1, 'health for all groups replaces it')
    t.match(await readHealth(harness), { [`${first}.default`]: 'sick' })
  })

  await t.test('unknown backends and invalid health are refused', async (t) => {
    t.match(await put(404, 'backends/nope/sick'), { errorMsg: /nope was not found/ })
    await put(404, 'backends/77.default/sick')
    t.match(await put(400, 'backends/default/dead'), { errorMsg: /healthy, sick or auto/ })
    for (const pattern of ['*', 'def*', '*.default', `${first}.default`])
      t.match(await put(400, `backends/${pattern}/sick`), { errorMsg: /patterns are not allowed/ })
  })

  await t.test('a command that sets the health has the same effect', async (t) => {
    t.same(await command(200, `backend.set_health ${first}.spare sick`), { message: '' })
    t.match(await readHealth(harness), { [`${first}.spare`]: 'sick' })
    t.match((await harness.readDesired()).health?.at(-1), { backend: 'spare', groups: [groupId] })
    await command(400, 'backend.set_health *.* sick')
    await command(404, 'backend.set_health nope sick')
  })

  await t.test('the next deploy keeps the health', async (t) => {
    await client.expect(200, 'PUT', `/files/${String(file['id'])}`, { source: source('two') })
    await deploy()
    const next = (await listVcls(harness.cache)).find(
      (name) => name !== 'cf-idle' && name !== first,
    )
    t.match(await readHealth(harness), { [`${next}.default`]: 'sick', [`${next}.spare`]: 'sick' })
    await untilSettled(harness)
    await put(200, 'backends/default/auto')
    await put(200, `backends/${groupId}.spare/auto`)
    t.match(await readHealth(harness), {
      [`${next}.default`]: 'healthy',
      [`${next}.spare`]: 'healthy',
      [`${first}.default`]: 'healthy',
    })
    t.equal((await harness.readDesired()).health, undefined)
    await untilSettled(harness)
  })
})
