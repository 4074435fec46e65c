/** What an agent never does to a real cache (read-only, locked, before the first deploy, before probes pass), and what it answers. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import { answering, fetchMark, idle, listVcls, quoted, serving } from '../support/observe-cache.js'
import { startCoordinatorEnd } from './coordinator-end.js'
import { attachTo, changesIn, runTestAgent } from './run-agent.js'

void t.test('a read-only agent answers queries and changes nothing', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t, { vcl: answering('own') })
  const agent = await runTestAgent(t, coordinator, attachTo(cache), { readOnly: true })
  t.same((await coordinator.hello()).capabilities, ['report'])
  await eventually('linked', () => agent.isLinked())

  const refused = await coordinator.apply(5, idle)
  t.match(refused, { result: 'refused', error: /read-only/, changed: false })
  const vcls = await coordinator.ask({ kind: 'query', query: 'vcls' })
  t.match(vcls.value, [{ name: 'boot', status: 'active', state: 'auto', label: null }])
  const params = await coordinator.ask({ kind: 'query', query: 'params' })
  t.match(params.value, {
    default_ttl: { value: '120.000', default: '120.000', unit: 'seconds', description: /TTL/ },
    feature: { unit: '' },
  })
  t.match((await coordinator.ask({ kind: 'query', query: 'backends' })).result, 'done')
  t.match((await coordinator.ask({ kind: 'query', query: 'bans' })).value, [{ expression: '' }])
  t.match(await coordinator.ask({ kind: 'query', query: 'panic' }), { result: 'done', value: null })
  const show = await coordinator.ask({ kind: 'command', line: 'vcl.show boot' })
  t.equal(show.value, answering('own'))
  const wrong = await coordinator.ask({ kind: 'command', line: 'vcl.show nope' })
  t.match(wrong, { result: 'done', value: "No VCL named 'nope'" })
  for (const line of ['vcl.use boot', 'stop', 'ban req.url ~ /', 'param.set cc_command x'])
    t.match(await coordinator.ask({ kind: 'command', line }), { result: 'refused', value: null })
  await cache.restart()
  await eventually('running', () => coordinator.condition()?.engineState === 'running')
  await coordinator.ask({ kind: 'query', query: 'vcls' })

  t.same(changesIn(agent), [], 'the agent sent no changing command')
  t.same(await listVcls(cache), ['boot'])
})

void t.test('with first-deploy the foreign VCL serves until the first deploy', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t, { vcl: answering('keeps-serving') })
  const agent = await runTestAgent(t, coordinator, attachTo(cache), { takeover: 'first-deploy' })
  await eventually('linked', () => agent.isLinked())
  t.match(await coordinator.apply(1, idle), { result: 'applied', changed: false })
  t.same(await listVcls(cache), ['boot'])
  t.equal(agent.condition().effectiveRevision, 1)

  const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
  t.match(await coordinator.apply(2, { ...idle, load: [one] }), { loaded: [one.name] })
  t.same(await listVcls(cache), ['boot', one.name])
  t.match(await coordinator.apply(3, idle), { result: 'applied', changed: true })
  t.same(await listVcls(cache), ['boot'], 'an abandoned candidate is unloaded')
  t.equal((await fetchMark(cache)).mark, 'keeps-serving')

  t.match(await coordinator.apply(4, serving(one)), { result: 'applied' })
  t.equal((await fetchMark(cache)).mark, 'v1')
  t.same(await listVcls(cache), [one.name])
  t.match(await coordinator.apply(5, idle), { result: 'applied' })
  t.same(await listVcls(cache), ['cf-idle'], 'after the first deploy the idle VCL replaces it')
})

void t.test(
  'another coordinator, or an older state of the same one, locks the agent until it is unlocked',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const cache = await startVarnishd(t)
    const agent = await runTestAgent(t, coordinator, attachTo(cache))
    await eventually('linked', () => agent.isLinked())
    const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
    await coordinator.apply(7, serving(one))

    await coordinator.close()
    coordinator.settings.revision = 3
    await coordinator.open()
    await eventually('locked', () => coordinator.condition()?.lockedBecause)
    t.equal(coordinator.condition()?.lockedBecause, 'holds revision 7, the coordinator knows 3')
    t.match(await coordinator.apply(3, idle), {
      result: 'refused',
      error: /locked: holds revision 7/,
    })
    await cache.adm('vcl.inline', 'intruder', quoted(answering('intruder')))
    await cache.adm('vcl.use', 'intruder')
    const isReported = () =>
      coordinator.description()?.held?.vcls.find(({ active }) => active)?.name === 'intruder'
    await eventually('the agent reports the VCLs its cache holds', isReported)
    t.match(coordinator.description()?.held, {
      childRunning: true,
      takeover: 'registration',
      takenOver: true,
      vcls: [
        { name: one.name, active: false, ours: true },
        { name: 'intruder', active: true, ours: false },
      ],
    })
    t.match(await coordinator.ask({ kind: 'query', query: 'vcls' }), { result: 'done' })
    t.match(await coordinator.ask({ kind: 'unlock' }), { result: 'done', error: null })
    await eventually('unlocked', () => coordinator.condition()?.lockedBecause === null)
    t.match(
      await coordinator.apply(3, serving(one)),
      { result: 'applied' },
      'the agent accepts an older revision',
    )
    t.same(await listVcls(cache), [one.name])
    t.equal((await fetchMark(cache)).mark, 'v1')

    await coordinator.close()
    coordinator.settings.coordinatorId = 'coordinator-two'
    coordinator.settings.revision = 9
    await coordinator.open()
    await eventually('locked again', () =>
      coordinator.condition()?.lockedBecause?.includes('coordinator-two'),
    )
    const from = agent.lines.length
    await cache.restart()
    await eventually('running', () => coordinator.condition()?.engineState === 'running')
    // The hello may also list what the agent held before the restart.
    await eventually('no held VCL is ours any more', () => {
      const held = coordinator.description()?.held
      return held?.vcls.every(({ ours }) => !ours) === true && !held.takenOver
    })
    await coordinator.ask({ kind: 'query', query: 'vcls' })
    t.same(changesIn(agent, from), [], 'a locked agent repairs nothing')

    await coordinator.ask({ kind: 'unlock' })
    t.match(await coordinator.apply(9, idle), { result: 'applied' })
    t.same(await listVcls(cache), ['cf-idle'])
  },
)

void t.test(
  'a new VCL counts as loaded once its probes are healthy, or if they were sick before',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    let probes = 0
    const origin = createServer((_, response) => {
      probes += 1
      response.writeHead(200).end()
    })
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
    t.teardown(() => new Promise((resolve) => origin.close(resolve)))
    const cache = await startVarnishd(t)
    const agent = await runTestAgent(t, coordinator, attachTo(cache), { warmupMs: 60_000 })
    await eventually('linked', () => agent.isLinked())
    const probed = (backend: string, port: number) =>
      `vcl 4.1;\nbackend ${backend} { .host = "127.0.0.1"; .port = "${port}"; .probe = { .interval = 0.2s; .initial = 0; .window = 2; .threshold = 2; } }\n`
    const { port } = origin.address() as AddressInfo // listening on TCP

    const healthy = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(probed('web', port)) }
    t.match(await coordinator.apply(1, { ...idle, load: [healthy] }), { loaded: [healthy.name] })
    t.ok(probes >= 2, 'the backend was probed often enough to become healthy')
    await coordinator.apply(2, serving(healthy))
    origin.closeAllConnections()
    await new Promise((resolve) => origin.close(resolve))
    await eventually('web is sick', async () => /sick/.test(await cache.adm('backend.list')))

    const alsoSick = {
      name: 'cf-1-bbbbbbbb-2',
      sha: coordinator.publish(`${probed('web', port)}# new`),
    }
    t.match(
      await coordinator.apply(3, { ...serving(healthy), load: [healthy, alsoSick] }),
      {
        loaded: [healthy.name, alsoSick.name],
      },
      'the agent does not wait for a backend that is already sick',
    )
  },
)

void t.test('a source larger than cli_limit is saved in full before it is unloaded', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const long = `${answering('long')}${'# filling\n'.repeat(120_000)}`
  const cache = await startVarnishd(t, { vcl: long })
  const limit = await cache.adm('param.show', 'cli_limit')
  const agent = await runTestAgent(t, coordinator, attachTo(cache))
  await eventually('linked', () => agent.isLinked())

  t.match(await coordinator.apply(1, idle), { result: 'applied' })

  const [file = ''] = await readdir(join(agent.stateDir, 'foreign'))
  t.equal(await readFile(join(agent.stateDir, 'foreign', file), 'utf8'), long)
  t.equal(
    (await cache.adm('param.show', 'cli_limit')).split('\n')[1]?.replace(' (default)', ''),
    limit.split('\n')[1]?.replace(' (default)', ''),
  )
  const large = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(`${long}# again`) }
  await coordinator.apply(2, serving(large))
  await cache.adm('param.set', 'cli_limit', '4m')
  await cache.adm('vcl.discard', 'cf-idle')
  const shown = await coordinator.ask({ kind: 'command', line: `vcl.show ${large.name}` })
  t.match(shown, { result: 'done', sentByPut: true, value: null })
  t.equal(coordinator.putAnswers.get(shown.instruction), `${long}# again\n`)
})

void t.test(
  'the agent starts a cache without a VCL with the idle VCL or the one to serve',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const cache = await startVarnishd(t, { vcl: null })
    const agent = await runTestAgent(t, coordinator, attachTo(cache))
    await eventually('linked', () => agent.isLinked())
    t.equal((await coordinator.hello()).condition.engineState, 'stopped')

    t.match(await coordinator.apply(1, idle), { result: 'applied', changed: true })
    await eventually('running', () => coordinator.condition()?.engineState === 'running')
    t.equal((await fetchMark(cache)).status, 503)

    await cache.adm('stop')
    await eventually('stopped', () => coordinator.condition()?.engineState === 'stopped')
    t.match(
      await coordinator.apply(1, idle),
      { result: 'applied', changed: false },
      'a deliberate stop is respected',
    )
  },
)

void t.test('a compile returns the compiler’s message and leaves nothing behind', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t)
  const agent = await runTestAgent(t, coordinator, attachTo(cache))
  await eventually('linked', () => agent.isLinked())
  const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
  await coordinator.apply(1, serving(one))
  const bad = coordinator.publish('vcl 4.1;\nbackend default none;\nsub vcl_recv { nonsense; }\n')
  const init = coordinator.publish(
    'vcl 4.1;\nbackend default none;\nsub vcl_init { return (fail("because-of-init")); }\n',
  )

  const answers = await Promise.all(
    [one.sha, bad, one.sha, init].map((sha) =>
      coordinator.ask({ kind: 'compile', sha, init: sha === init }),
    ),
  )

  t.same(answers[0]?.value, { error: null })
  t.match(answers[1]?.value, { error: /nonsense[^]*Line 3 Pos 16/ })
  t.same(answers[2]?.value, { error: null })
  t.match(answers[3]?.value, { error: /because-of-init/ })
  const unknown = await coordinator.ask({ kind: 'compile', sha: 'f'.repeat(64) })
  t.match(unknown, { result: 'failed', error: /404/ })
  t.same(await listVcls(cache), [one.name])
  t.equal((await fetchMark(cache)).mark, 'v1')
  t.same(coordinator.drifts(), [])
})
