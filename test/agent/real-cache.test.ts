/** An agent and a real varnishd: takeover, deploys, refusals, restarts, with and without a coordinator. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openBootFile } from '../support/boot-file.js'
import { readRelease } from '../support/cache-program.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import { answering, fetchMark, idle, listVcls, quoted, serving } from '../support/observe-cache.js'
import { startCoordinatorEnd } from './coordinator-end.js'
import { attachTo, changesIn, runTestAgent } from './run-agent.js'

void t.test('takeover, deploy, failed deploy, restarts', async (t) => {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t, { vcl: answering('foreign-boot') })
  await cache.adm('vcl.inline', 'handmade', quoted(answering('foreign-spare')))
  await cache.adm('vcl.label', 'handlabel', 'handmade')
  const agent = await runTestAgent(t, coordinator, attachTo(cache))

  const hello = await coordinator.hello()
  const { product, version } = readRelease()
  t.match(hello.engine, { product, version }, 'hello contains the release of the cache')
  t.equal(hello.condition.engineState, 'running')
  t.same(
    await listVcls(cache),
    ['boot', 'handlabel', 'handmade'],
    'nothing changes before the first instruction',
  )

  const taken = await coordinator.apply(1, idle)
  t.match(taken, { result: 'applied', changed: true, failures: [] })
  t.same(await listVcls(cache), ['cf-idle'])
  t.equal((await fetchMark(cache)).status, 503)
  const foreign = await readdir(join(agent.stateDir, 'foreign'))
  for (const [name, mark] of [
    ['boot', 'foreign-boot'],
    ['handmade', 'foreign-spare'],
  ] as const) {
    const file = foreign.find((one) => one.endsWith(`-${name}.vcl`)) ?? ''
    const path = join(agent.stateDir, 'foreign', file)
    t.match(await readFile(path, 'utf8'), mark)
    t.equal((await stat(path)).mode & 0o777, 0o600)
  }
  t.equal((await stat(agent.stateDir)).mode & 0o777, 0o700)

  const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
  const two = { name: 'cf-1-bbbbbbbb-2', sha: coordinator.publish(answering('v2')) }
  const prepared = await coordinator.apply(2, { ...idle, load: [one] })
  t.match(prepared, { result: 'applied', loaded: [one.name] })
  t.equal((await fetchMark(cache)).status, 503, 'phase one does not switch')
  const deployed = await coordinator.apply(3, serving(one), 'trace-of-the-deploy')
  t.match(deployed, { result: 'applied', loaded: [one.name], changed: true })
  t.equal((await fetchMark(cache)).mark, 'v1')
  t.ok(
    agent.lines.some((line) => line.level === 30 && line.traceId === 'trace-of-the-deploy'),
    'the log contains the trace id at info',
  )

  const before = agent.lines.length
  const again = await coordinator.apply(3, serving(one))
  t.match(again, { result: 'applied', changed: false })
  t.same(changesIn(agent, before), [], 'a repeated apply sends no changing command')

  const bad = {
    name: 'cf-1-cccccccc-3',
    sha: coordinator.publish(
      'vcl 4.1;\nbackend default none;\nsub vcl_recv { set req.http.a = nonsense.symbol; }\n',
    ),
  }
  const failed = await coordinator.apply(4, { ...serving(one), load: [one, bad, two] })
  t.equal(failed.result, 'failed')
  t.same(failed.loaded, [one.name, two.name], 'a failed load does not stop the others')
  t.equal(failed.failures[0]?.program, bad.name)
  t.match(failed.failures[0]?.error, /nonsense[^]*'<vcl.inline>' Line 3 Pos 33/)
  t.equal((await fetchMark(cache)).mark, 'v1')
  const switched = await coordinator.apply(5, { ...serving(bad), load: [bad, one] })
  t.equal(switched.result, 'failed')
  t.equal(
    (await fetchMark(cache)).mark,
    'v1',
    'the serving VCL stays when the desired one does not load',
  )
  t.match(await coordinator.apply(6, serving(two, one)), { result: 'applied' })
  t.equal((await fetchMark(cache)).mark, 'v2')
  t.same(await listVcls(cache), ['cf-1-aaaaaaaa-1', 'cf-1-bbbbbbbb-2', 'cf-idle'])

  const boot = await readFile(join(agent.stateDir, 'boot.cli'), 'utf8')
  t.match(boot, /vcl\.use cf-1-bbbbbbbb-2\n$/)
  const second = await startVarnishd(t, {
    vcl: null,
    args: ['-I', await openBootFile(t, join(agent.stateDir, 'boot.cli'))],
  })
  t.equal((await fetchMark(second)).mark, 'v2', 'a cache started with boot.cli serves')

  const worker = await cache.childPid()
  process.kill(worker ?? 0, 'SIGKILL')
  await eventually('v2 after the child died', async () => (await fetchMark(cache)).mark === 'v2')

  await cache.stop('SIGKILL')
  await eventually('unreachable', () => coordinator.condition()?.engineState === 'unreachable')
  await cache.restart()
  await eventually('v2 after a restart', async () => (await fetchMark(cache)).mark === 'v2')
  await eventually(
    'the VCLs are as before',
    async () => (await listVcls(cache)).join() === `${one.name},${two.name}`,
  )
  await eventually('running', () => coordinator.condition()?.engineState === 'running')
  t.same(coordinator.drifts(), [], 'a restart is not drift')

  await coordinator.close()
  await cache.restart()
  await eventually('v2 without a coordinator', async () => (await fetchMark(cache)).mark === 'v2')
  await agent.stop()
  await cache.restart()
  const next = await runTestAgent(t, coordinator, attachTo(cache), { stateDir: agent.stateDir })
  await eventually('v2 by a new agent alone', async () => (await fetchMark(cache)).mark === 'v2')
  await eventually('boot is gone', async () => !(await listVcls(cache)).includes('boot'))
  await coordinator.open()
  coordinator.settings.revision = 6
  await eventually('linked again', () => next.isLinked())
  await eventually('the revision is effective', () => next.condition().effectiveRevision === 6)

  // The agent may check between the two commands and discard the VCL that is not yet in use.
  await eventually('a foreign VCL is in use', async () => {
    await cache.adm('vcl.inline', 'intruder', quoted(answering('intruder')))
    await cache.adm('vcl.use', 'intruder')
    return true
  })
  const drift = await eventually('the drift is healed', () =>
    coordinator.drifts().findLast(({ healedAt }) => healedAt),
  )
  t.same(drift.foreign, ['intruder'])
  await eventually('v2 again', async () => (await fetchMark(cache)).mark === 'v2')
  await eventually(
    'nothing else is loaded',
    async () => (await listVcls(cache)).join() === [one.name, two.name].join(),
  )
})

void t.test(
  'labels are set before VCLs that return them, restored when moved, and in the start file',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const cache = await startVarnishd(t)
    const agent = await runTestAgent(t, coordinator, attachTo(cache))
    await eventually('linked', () => agent.isLinked())
    const site = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('site')) }
    const routing = {
      name: 'cf-r-bbbbbbbb',
      sha: coordinator.publish(
        'vcl 4.1;\nbackend default none;\nsub vcl_recv { return (vcl(cf-l-1)); }\n',
      ),
    }
    const labels = [{ label: 'cf-l-1', program: site.name }]
    const desired = { load: [routing, site], labels, active: routing.name }

    t.match(await coordinator.apply(1, desired), { result: 'applied', failures: [] })
    t.equal((await fetchMark(cache)).mark, 'site')
    await cache.adm('vcl.inline', 'hand', quoted(answering('hand')))
    await cache.adm('vcl.label', 'cf-l-1', 'hand')
    // The agent may check between the two commands and try to discard the VCL that has the label by then.
    const drift = await eventually('the drift is healed', () =>
      coordinator.drifts().find(({ healedAt }) => healedAt),
    )
    t.match(drift, { foreign: ['hand'], action: /labelled cf-1-aaaaaaaa-1 as cf-l-1/ })
    t.equal((await fetchMark(cache)).mark, 'site')
    const wanted = [site.name, 'cf-l-1', routing.name].join()
    await eventually('no other VCL', async () => (await listVcls(cache)).join() === wanted)

    const args = ['-I', await openBootFile(t, join(agent.stateDir, 'boot.cli'))]
    const second = await startVarnishd(t, { vcl: null, args })
    t.equal((await fetchMark(second)).mark, 'site')
  },
)
