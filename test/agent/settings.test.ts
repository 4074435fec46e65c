/** Parameters and backend health on a real varnishd: set, kept over deploys and restarts, repaired, refused; boot.cli. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { hasQuirk } from '../../protocol/quirks.js'
import { parseBackendListText } from '../../protocol/text/backend-list.js'
import type { DesiredEngine } from '../../src/vcl/desired-engine.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { parallel } from '../support/parallel.js'
import { isBootFileClosed, openBootFile } from '../support/boot-file.js'
import { cacheProgram, readRelease } from '../support/cache-program.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { answering, idle, serving } from '../support/observe-cache.js'
import { startCoordinatorEnd, type CoordinatorEnd } from './coordinator-end.js'
import { attachTo, changesIn, runTestAgent } from './run-agent.js'

/** Two backends: one without a probe, one that never answers. */
const withBackends = (mark: string): string =>
  `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "9"; }
backend other { .host = "127.0.0.1"; .port = "9"; .probe = { .interval = 3600s; .initial = 2; } }
sub vcl_recv { if (req.url == "/other") { set req.backend_hint = other; } set req.http.X-Mark = "${mark}"; }
`

async function readParam(cache: Varnishd, name: string): Promise<string> {
  const shown = await cache.adm('param.show', name)
  return /Value is: (.*)/.exec(shown)?.[1]?.trim() ?? shown
}

/** Set bits, sorted; the defaults differ by release. */
async function readFeatures(cache: Varnishd): Promise<readonly string[]> {
  return (await readParam(cache, 'feature')).match(/\+\w+/g)?.toSorted() ?? []
}

/** Admin health by `<VCL>.<backend>`. */
async function readHealth(cache: Varnishd): Promise<Record<string, string>> {
  const rows = parseBackendListText(await cache.adm('backend.list', '*.*'))
  return Object.fromEntries(rows.map(({ name, adminHealth }) => [name, adminHealth]))
}

async function restartWorker(cache: Varnishd): Promise<void> {
  const worker = await cache.childPid()
  process.kill(worker ?? 0, 'SIGKILL')
  await eventually('a new child', async () => {
    const next = await cache.childPid().catch(() => null)
    return next !== null && next !== worker
  })
}

function untilParam(cache: Varnishd, name: string, value: string): Promise<unknown> {
  return eventually(`${name} is ${value}`, async () => (await readParam(cache, name)) === value)
}

function untilHealth(cache: Varnishd, name: string, health: string): Promise<unknown> {
  return eventually(`${name} is ${health}`, async () => (await readHealth(cache))[name] === health)
}

async function isEffective(coordinator: CoordinatorEnd, revision: number): Promise<unknown> {
  return eventually(`revision ${revision} is effective`, () => {
    return coordinator.condition()?.effectiveRevision === revision
  })
}

/** Tests run in parallel: each has a cache of its own and mostly waits. */
t.jobs = 6

void t.test('parameters are desired state', parallel(), async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t, { vcl: answering('foreign') })
  const agent = await runTestAgent(t, coordinator, attachTo(cache))
  await coordinator.hello()
  await coordinator.apply(1, idle)

  const params = [
    { name: 'default_ttl', value: '10' },
    { name: 'feature', value: '+http2' },
    // Accepted in one order only: the maximum may not be below the minimum, initially 100.
    { name: 'thread_pool_max', value: '50' },
    { name: 'thread_pool_min', value: '20' },
  ]
  const wanted = [...(await readFeatures(cache)), '+http2'].toSorted()
  const set = await coordinator.apply(2, { ...idle, params })
  t.match(set, { result: 'applied', error: null, changed: true })
  t.equal(await readParam(cache, 'default_ttl'), '10.000 [seconds]')
  t.same(await readFeatures(cache), wanted)
  t.equal(await readParam(cache, 'thread_pool_max'), '50 [threads]')
  t.equal(await readParam(cache, 'thread_pool_min'), '20 [threads]')

  const before = agent.lines.length
  t.match(await coordinator.apply(2, { ...idle, params }), { result: 'applied', changed: false })
  t.same(changesIn(agent, before), [], 'a parameter is not set twice')

  await t.test('the agent repairs parameters that somebody else changed', async (t) => {
    await cache.adm('param.set', 'default_ttl', '5')
    await cache.adm('param.set', 'feature', '-http2,+esi_disable_xml_check')
    await cache.adm('param.set', 'default_grace', '77')
    await untilParam(cache, 'default_ttl', '10.000 [seconds]')
    await eventually('the bits are back', async () => {
      return String(await readFeatures(cache)) === String(wanted)
    })
    t.equal(await readParam(cache, 'default_grace'), '77.000 [seconds]', 'others are left alone')
    const drift = await eventually('a drift report', () => coordinator.drifts().at(-1))
    t.match(drift, { foreign: [], action: /set default_ttl to 10/ })
    t.ok(drift.healedAt)
  })

  await t.test('parameters are restored with a new child and with a new manager', async (t) => {
    const reported = coordinator.drifts().length
    await restartWorker(cache)
    await untilParam(cache, 'default_ttl', '10.000 [seconds]')
    await cache.restart()
    await untilParam(cache, 'default_ttl', '10.000 [seconds]')
    await untilParam(cache, 'thread_pool_max', '50 [threads]')
    await isEffective(coordinator, 2)
    t.equal(coordinator.drifts().length, reported, 'a restart is not drift')
  })

  await t.test('boot.cli starts a cache with the parameters', async (t) => {
    const boot = join(agent.stateDir, 'boot.cli')
    t.match(await readFile(boot, 'utf8'), /^-param\.set /)
    const start = (file: string) => startVarnishd(t, { vcl: null, args: ['-I', file] })
    if (isBootFileClosed) await t.rejects(start(boot), /Permission denied/)
    const second = await start(await openBootFile(t, boot))
    t.equal(await readParam(second, 'default_ttl'), '10.000 [seconds]')
    t.equal(await readParam(second, 'thread_pool_max'), '50 [threads]')
    t.same(await readFeatures(second), wanted)
  })

  await t.test('a new agent with the same state dir sends no changing command', async (t) => {
    await agent.stop()
    coordinator.settings.revision = 2
    const next = await runTestAgent(t, coordinator, attachTo(cache), { stateDir: agent.stateDir })
    await eventually('the revision is effective', () => next.condition().effectiveRevision === 2)
    await eventually('linked', () => next.isLinked())
    t.same(changesIn(next), [])

    const fewer = await coordinator.apply(3, { ...idle, params: params.slice(0, 1) })
    t.match(fewer, { result: 'applied', changed: true })
    t.match(await readParam(cache, 'feature'), /\(default\)/, 'it is back at its default')
    t.match(await readParam(cache, 'thread_pool_min'), /\(default\)/)
    t.match(await coordinator.apply(4, idle), { result: 'applied' }, 'a state without settings')
    t.match(await readParam(cache, 'default_ttl'), /\(default\)/)
  })
})

void t.test('a refused parameter is reported and holds nothing up', parallel(), async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t)
  const agent = await runTestAgent(t, coordinator, attachTo(cache))
  await coordinator.hello()
  const program = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
  const report = await coordinator.apply(1, {
    ...serving(program),
    params: [
      { name: 'no_such_param', value: '1' },
      { name: 'default_ttl', value: '10' },
      { name: 'cc_command', value: 'touch /tmp/never' },
    ],
  })
  t.match(report, { result: 'applied', loaded: [program.name], failures: [] })
  t.match(report.error, /no_such_param: Unknown parameter "no_such_param"/)
  t.equal(await readParam(cache, 'default_ttl'), '10.000 [seconds]')
  const tries = changesIn(agent).filter((line) => line.includes('no_such_param'))
  t.ok(tries.length >= 1 && tries.length <= 2, 'it is not retried in a tight loop')
  await eventually('it is retried after a while', () => {
    return changesIn(agent).filter((line) => line.includes('no_such_param')).length > tries.length
  })
  t.same(coordinator.drifts(), [], 'a refusal is not drift')
  t.notOk(agent.lines.some(({ msg }) => msg === 'the cache is not as desired'))
  t.notOk(
    changesIn(agent).some((line) => line.includes('cc_command')),
    'denied parameters are never sent',
  )
})

void t.test('the caller gets the cache’s answer to a setting', parallel(), async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t, { args: ['-r', 'vcl_path'] })
  const agent = await runTestAgent(t, coordinator, attachTo(cache))
  await coordinator.hello()
  await coordinator.apply(1, idle)
  const setParam = async (name: string, value: string | null) =>
    (await coordinator.ask({ kind: 'setParam', name, value })).value

  t.match(await setParam('default_ttl', '30'), {
    refusal: null,
    parameter: { value: '30.000', default: '120.000', unit: 'seconds' },
  })
  t.match(await setParam('workspace_client', '128k'), { note: '', parameter: { value: '128k' } })
  t.match(await setParam('default_ttl', '-1'), {
    refusal: /Must be greater or equal to 0\.000[^]*attempting to set param 'default_ttl' to '-1'/,
    parameter: null,
  })
  t.equal(await readParam(cache, 'default_ttl'), '30.000 [seconds]', 'the old value is kept')
  t.match(await setParam('nope', '1'), { refusal: /Unknown parameter "nope"/ })
  const denied = { kind: 'setParam', name: 'cc_command', value: 'x' } as const
  t.match(await coordinator.ask(denied), { result: 'refused', error: /cc_command/ })
  await coordinator.apply(2, { ...idle, params: [{ name: 'default_ttl', value: '30' }] })
  t.match(await setParam('default_ttl', null), { parameter: { value: '120.000' } })
  await coordinator.apply(3, { ...idle, params: [{ name: 'workspace_client', value: '128k' }] })
  t.match(await readParam(cache, 'default_ttl'), /\(default\)/)

  const words = `${cacheProgram.product.daemon} -r `
  const warning = agent.lines.find(({ msg }) => msg.includes(words))
  t.match(warning, { level: 40, msg: /d -r \S*cc_command\S*/ })
  const { unprotected } = warning as unknown as { unprotected: string[] } // a field of that line
  t.ok(unprotected.includes('cc_command'))
  t.notMatch(unprotected.join(), 'vcl_path')
})

void t.test('a setting that is not part of the desired state is reset', parallel(), async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t)
  await runTestAgent(t, coordinator, attachTo(cache))
  await coordinator.hello()
  await coordinator.apply(1, { ...idle, params: [{ name: 'default_ttl', value: '10' }] })
  await coordinator.ask({ kind: 'setParam', name: 'default_ttl', value: '20' })
  await coordinator.ask({ kind: 'setParam', name: 'default_grace', value: '20' })
  t.equal(await readParam(cache, 'default_ttl'), '20.000 [seconds]')
  await untilParam(cache, 'default_ttl', '10.000 [seconds]')
  await untilParam(cache, 'default_grace', '10.000 [seconds] (default)')
})

void t.test('the health of backends is desired state', parallel(), async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t)
  const agent = await runTestAgent(t, coordinator, attachTo(cache), { warmupMs: 0 })
  await coordinator.hello()
  const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(withBackends('one')) }
  const two = { name: 'cf-1-bbbbbbbb-1', sha: coordinator.publish(withBackends('two')) }
  const other = { name: 'cf-2-cccccccc-1', sha: coordinator.publish(withBackends('three')) }
  await coordinator.apply(1, serving(one, other))
  const setHealth = async (
    backend: string,
    health: 'healthy' | 'sick' | 'auto',
    groups?: number[],
  ) => (await coordinator.ask({ kind: 'setHealth', backend, health, groups: groups ?? null })).value

  t.match(await setHealth('nope', 'sick'), { refusal: null, backends: [] })
  t.match(await setHealth('other', 'healthy', [2]), { backends: ['cf-2-cccccccc-1.other'] })
  t.match(await setHealth('default', 'sick'), {
    backends: ['cf-1-aaaaaaaa-1.default', 'cf-2-cccccccc-1.default'],
  })
  t.match(await readHealth(cache), {
    'cf-1-aaaaaaaa-1.default': 'sick',
    'cf-1-aaaaaaaa-1.other': 'probe',
    'cf-2-cccccccc-1.default': 'sick',
    'cf-2-cccccccc-1.other': 'healthy',
  })
  const health: DesiredEngine['health'] = [
    { backend: 'default', health: 'sick', groups: null },
    { backend: 'other', health: 'healthy', groups: [2] },
  ]
  const before = agent.lines.length
  t.match(await coordinator.apply(2, { ...serving(one, other), health }), { changed: false })
  t.same(changesIn(agent, before), [])

  await t.test('backend health survives a deploy, and is set before the switch', async (t) => {
    const from = agent.lines.length
    await coordinator.apply(3, { ...serving(two, one, other), health })
    t.match(await readHealth(cache), { 'cf-1-bbbbbbbb-1.default': 'sick' })
    const changes = changesIn(agent, from)
    const at = (start: string) => changes.findIndex((line) => line.startsWith(start))
    t.ok(at('vcl.inline') < at('backend.set_health'), 'after it is loaded')
    t.ok(at('backend.set_health') < at('vcl.use'), 'before it is used')
  })

  await t.test('health is repaired, and restored with a new child and manager', async (t) => {
    await cache.adm('backend.set_health', 'cf-1-bbbbbbbb-1.default', 'healthy')
    await untilHealth(cache, 'cf-1-bbbbbbbb-1.default', 'sick')
    t.match(await eventually('a drift report', () => coordinator.drifts().at(-1)), {
      action: /set cf-1-bbbbbbbb-1\.default to sick/,
    })
    await restartWorker(cache)
    await untilHealth(cache, 'cf-1-bbbbbbbb-1.default', 'sick')
    await untilHealth(cache, 'cf-2-cccccccc-1.other', 'healthy')
    await cache.restart()
    await untilHealth(cache, 'cf-1-bbbbbbbb-1.default', 'sick')
    await untilHealth(cache, 'cf-2-cccccccc-1.other', 'healthy')
  })

  await t.test(
    'a later rule overrides an earlier one; without a rule the probe decides',
    async (t) => {
      const unset = hasQuirk(readRelease().version, 'listsUnsetAsProbed') ? 'probe' : 'healthy'
      await isEffective(coordinator, 3)
      const except = [...health, { backend: 'default', health: 'auto' as const, groups: [2] }]
      await coordinator.apply(4, { ...serving(two, one, other), health: except })
      t.match(await readHealth(cache), {
        'cf-1-bbbbbbbb-1.default': 'sick',
        'cf-2-cccccccc-1.default': unset,
      })
      t.match(await coordinator.apply(5, serving(two, one, other)), { result: 'applied' })
      t.match(await readHealth(cache), {
        'cf-1-bbbbbbbb-1.default': unset,
        'cf-2-cccccccc-1.other': 'probe',
      })
    },
  )
})

void t.test(
  'beside labels the agent spares a release commands that would kill its child',
  parallel(),
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const secret = Buffer.from('secret\n')
    const engine = createSimulatedEngine({ version: '7.7.3', secret, journalLines: 500 })
    t.teardown(() => {
      engine.close()
      return Promise.resolve()
    })
    const connect = () => engine.connect()
    const agent = await runTestAgent(t, coordinator, { mode: 'simulated', connect, secret })
    await coordinator.hello()
    const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(withBackends('one')) }
    const health: DesiredEngine['health'] = [{ backend: 'default', health: 'sick', groups: null }]
    const labels = [{ label: 'cf-l-1', program: one.name }]
    const sick = { kind: 'setHealth', backend: 'default', health: 'sick', groups: null } as const

    await coordinator.apply(1, serving(one))
    t.match(await coordinator.ask(sick), {
      result: 'done',
      value: { backends: [`${one.name}.default`] },
    })
    await coordinator.apply(2, { ...serving(one), health })
    t.match(await coordinator.apply(3, { ...serving(one), labels, health }), { result: 'applied' })
    t.match(await coordinator.ask(sick), { result: 'refused', error: /7\.7\.3.*label/ })
    const answer = await coordinator.ask({ kind: 'query', query: 'backends' })
    t.match(answer, { result: 'done', value: [{ name: `${one.name}.default` }] })
    const labelled = engine.journal.findIndex((line) => line.startsWith('vcl.label'))
    t.ok(labelled > 0)
    t.notOk(engine.journal.slice(labelled).some((line) => /^backend\.\S+ .*\./.test(line)))
    t.ok(
      agent.lines.some(({ msg }) => msg.includes('backend health')),
      'the agent logs it',
    )
  },
)
