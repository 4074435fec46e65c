/** An agent compiles VCL beside the cache, with the cache's own program, under limits; what it asks the live cache, and what not. */
import t, { type Test } from 'tap'
import { listCheckFolders, makeCheckFolder } from '../../src/agent/check/check-folder.js'
import { loadLimits } from '../../src/vcl/compile-limits.js'
import type { CompileAnswer } from '../../src/messages/answers.js'
import { eventually } from '../support/eventually.js'
import { startManagementProxy } from '../support/management-proxy.js'
import { startVarnishd } from '../support/varnishd.js'
import { answering, listVcls, quoted, serving } from '../support/observe-cache.js'
import { startCoordinatorEnd } from './coordinator-end.js'
import { attachTo, makeFolder, runTestAgent, type AgentSettings } from './run-agent.js'

const head = 'vcl 4.1;\nbackend default none;\n'
const budget = { organization: 7 }
const program = null

/** Larger than any source known to compile within every budget. */
const large = `${answering('large')}${'# filling\n'.repeat(7_000)}`
/** Compilers for the live cache: one that never ends, and one that takes 4 s. */
const endless = 'while :; do :; done'
const slow = 'sleep 4; exec gcc -O0 -fpic -shared -Wl,-x -o %o %s'

async function startAll(t: Test, settings: AgentSettings = {}) {
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t, { args: ['-s', 'fast=malloc,1m'] })
  const port = await startManagementProxy(t, cache)
  const engine = { ...attachTo(cache), host: port.host, port: port.port } as ReturnType<
    typeof attachTo
  > // still the attach mode
  const agent = await runTestAgent(t, coordinator, engine, settings)
  await eventually('linked', () => agent.isLinked())
  const check = async (text: string, order: object = {}): Promise<CompileAnswer> => {
    const sha = coordinator.publish(text)
    const answer = await coordinator.ask({ kind: 'compile', sha, ...order })
    return answer.value as CompileAnswer // from our own agent
  }
  return { coordinator, cache, port, agent, check }
}

void t.test('a check asks the live cache only for its compile settings', async (t) => {
  const { agent, coordinator, cache, port, check } = await startAll(t)
  const behind = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('behind')) }
  const labels = [{ label: 'there', program: behind.name }]
  await coordinator.apply(1, { load: [behind], labels, active: 'cf-idle' })
  await cache.adm('param.set', 'vcc_err_unref', 'off')
  port.forget()

  t.same(await check(answering('v1')), { error: null })
  t.same(await check(answering('v1'), { init: true, budget }), { error: null })
  t.match(await check(`${head}sub vcl_recv { nonsense; }\n`), {
    error: /^Message from VCC-compiler:\n[^]*\('<vcl.inline>' Line 3 Pos 16\)[^]*nonsense/,
  })
  t.same(await check(`${head}backend spare none;\n`), { error: null }, 'its parameters apply')
  t.same(
    await check(`${head}sub vcl_backend_response { set beresp.storage = storage.fast; }\n`),
    { error: null },
    'with the storages of the cache',
  )
  t.same(await check(`${head}sub vcl_recv { return (vcl(there)); }\n`), { error: null })
  t.match(await check(`${head}sub vcl_recv { return (vcl(away)); }\n`), { error: /'away'/ })
  const failing = `${head}sub vcl_init { return (fail("because-of-init")); }\n`
  t.same(await check(failing), { error: null }, 'vcl_init runs only on request')
  t.match(await check(failing, { init: true }), { error: /Failed initi[^]*because-of-init/ })
  t.same(port.changes(), [])
  t.same(await listCheckFolders(agent.stateDir), [], 'no check folder is left behind')
})

void t.test('a VCL over its budget is reported and never reaches the live cache', async (t) => {
  const budgetLimits = { ...loadLimits, cpuMs: 1_000 }
  const { coordinator, cache, port, check } = await startAll(t, {
    checks: { program, budgetLimits },
  })
  const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')), budget }
  t.match(await coordinator.apply(1, serving(one)), { result: 'applied' })
  const two = { name: 'cf-1-bbbbbbbb-2', sha: coordinator.publish(large), budget }
  await cache.adm('param.set', 'cc_command', quoted(endless))
  port.forget()

  const [report, checked] = await Promise.all([
    coordinator.apply(2, { ...serving(one), load: [one, two] }),
    check(answering('v2'), { budget: { organization: 8 } }),
  ])

  t.match(report, {
    failures: [{ program: two.name, error: /too much CPU time to compile[^]*--tenant-compile/ }],
  })
  t.same(checked, { error: null }, 'other organizations are not held up')
  t.notOk(port.changes().some((line) => line.includes('vcl.inline')))
  t.same(await listVcls(cache), [one.name])
  t.match(
    await check(answering('v3'), { init: true, budget }),
    { error: /more than the 1 s of CPU time and 1024 MiB that an organization has/ },
    'trying it out is refused as well',
  )
  t.same(await check(large, { budget }), { error: null }, 'parsing alone is cheap')
})

void t.test('a deploy reveals no labels to an organization either', async (t) => {
  const { coordinator, cache } = await startAll(t)
  await coordinator.apply(1, { load: [], labels: [], active: 'cf-idle' })
  await cache.adm('vcl.label', 'theirs', 'cf-idle')
  const sha = coordinator.publish(`${head}sub vcl_recv { set req.http.x = theirs; }\n`)
  const report = await coordinator.apply(2, {
    load: [{ name: 'cf-1-aaaaaaaa-1', sha, budget }],
    labels: [],
    active: 'cf-idle',
  })
  t.match(report.failures, [{ error: /Symbol not found: 'theirs'/ }])
})

void t.test('compiles of one organization run one at a time', async (t) => {
  const { agent, check, cache } = await startAll(t)
  await cache.adm('param.set', 'cc_command', quoted(slow))
  const first = check(answering('v1'), { init: true, budget })
  await eventually('it runs', async () => (await listCheckFolders(agent.stateDir)).length > 0)
  const answer = await check(answering('v1'), { budget })
  t.match(answer, { error: /one text at a time/, retryAfterSeconds: 2 })
  t.same(await check(answering('v1'), { budget: { organization: 8 } }), { error: null })
  t.same(await first, { error: null })
})

void t.test('a large VCL is compiled beside the cache before the cache loads it', async (t) => {
  const { coordinator, agent, port } = await startAll(t)
  const beside = () => agent.lines.filter(({ msg }) => msg === 'compiled beside the cache').length
  const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
  await coordinator.apply(1, serving(one))
  t.equal(beside(), 0, 'an ordinary VCL is not compiled beside the cache')
  const two = { name: 'cf-1-bbbbbbbb-2', sha: coordinator.publish(large) }
  t.match(await coordinator.apply(2, serving(two)), { result: 'applied' })
  t.equal(beside(), 1)
  t.ok(port.changes().some((line) => line.startsWith(`vcl.inline ${two.name}`)))
})

void t.test('without the program the cache itself checks, for its owner only', async (t) => {
  const { check, port } = await startAll(t, {
    checks: { program: '/bin/true', budgetLimits: loadLimits },
  })
  port.forget()
  t.match(await check(answering('v1'), { budget }), {
    unavailable: true,
    error: /on this shared agent: \/bin\/true is of release \?, the cache of [^]*--engine-program/,
  })
  t.same(port.changes(), [])
  t.same(await check(answering('v1')), { error: null })
  t.match(port.changes(), [/^vcl.inline cf-check-/, /^vcl.discard cf-check-/])
})

void t.test('an agent removes the check folders of a killed one', async (t) => {
  const stateDir = await makeFolder(t)
  const left = await makeCheckFolder(stateDir)
  const coordinator = await startCoordinatorEnd(t)
  const cache = await startVarnishd(t, { vcl: null })
  await runTestAgent(t, coordinator, attachTo(cache), { stateDir })
  t.notOk((await listCheckFolders(stateDir)).includes(left))
})
