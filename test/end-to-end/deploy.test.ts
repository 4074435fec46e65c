/** Deploys from the API to real caches: what serves, what is refused with which message, and the status. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fileTypes } from '../../src/resources/file.js'
import { answering, fetchMark, listVcls } from '../support/observe-cache.js'
import { makeStateDir, startAgent } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { parallel } from '../support/parallel.js'
import {
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readAgreement,
  readRefusal,
  startHarness,
  startTraffic,
  untilAgent,
  ways,
  type Harness,
} from './harness.js'

/** In parallel: each test has its own caches and coordinators. */
t.jobs = 2
for (const [way, coordinators] of ways)
  void t.test(`from enrolment to undeploy, ${way}`, parallel(), (t) => checkAll(t, coordinators))

async function checkAll(t: Test, coordinators: 1 | 2): Promise<void> {
  const harness = await startHarness(t, {
    coordinators,
    tags: ['trio'],
    agentWords: ['--warmup', '60'],
  })
  await untilAgent(harness, 'Running')

  await t.test('takeover saves unmanaged VCL and leaves the idle VCL', (t) =>
    checkTakeover(t, harness),
  )
  await t.test('a deploy serves, the next replaces it, and an unchanged one does nothing', (t) =>
    checkDeploys(t, harness),
  )
  await t.test('a VCL that does not compile is answered with 422, and the old one serves', (t) =>
    checkRefusals(t, harness),
  )
  await t.test('an error in an include names the include and its line', (t) =>
    checkIncludes(t, harness),
  )
  await t.test('the switch waits for the probes of the new VCL', (t) => checkProbes(t, harness))
  await t.test('undeploy leaves 503 and the idle VCL', (t) => checkUndeploy(t, harness))
  await t.test('if no agent runs tests, a deploy warns, or is refused', (t) =>
    checkUntested(t, harness),
  )
  await t.test('if one of three caches cannot compile, two switch, and the status names it', (t) =>
    checkTrio(t, harness),
  )
}

async function checkTakeover(t: Test, { cache, agentStateDir }: Harness): Promise<void> {
  await eventually('the idle VCL serves', async () => (await fetchMark(cache)).status === 503)
  await eventually('no other is loaded', async () => (await listVcls(cache)).join() === 'cf-idle')

  const folder = join(agentStateDir, 'foreign')
  const [file = ''] = await readdir(folder)
  t.match(file, /-boot\.vcl$/)
  t.match(await readFile(join(folder, file), 'utf8'), 'foreign')
  t.equal((await stat(join(folder, file))).mode & 0o777, 0o600)
}

async function checkDeploys(t: Test, harness: Harness): Promise<void> {
  const { api, cache, port } = harness
  const site = await makeSite(harness, 'site')
  t.equal((await fetchMark(cache)).status, 503, 'creating a group changes nothing')

  await deploySite(harness, site)
  t.equal((await fetchMark(cache)).mark, 'site-first')
  await editSite(harness, site, 'second')
  t.equal((await fetchMark(cache)).mark, 'site-first', 'nor does editing a file')
  const traffic = startTraffic(t, cache)
  await deploySite(harness, site)
  t.equal((await fetchMark(cache)).mark, 'second')
  t.same([...traffic.failures], [], 'no request failed meanwhile')
  await traffic.stop()
  t.equal(await readAgreement(harness, site), 'second')

  const before = await api.readGroup(site.id)
  port.forget()
  await deploySite(harness, site)
  t.same(port.changes(), [], 'the same deploy again sends no changing command')
  t.same(await api.readGroup(site.id), before)
  t.match(await api.readHistory(site.id), [
    { revision: 2, action: 'deploy', result: 'ok', mainVCL: { id: site.file, version: 2 } },
    { revision: 1, action: 'deploy', result: 'ok', mainVCL: { id: site.file, version: 1 } },
  ])
}

const notCompiling = `vcl 4.1;
backend default none;

sub vcl_recv {
  set req.http.a = nonsense.symbol;
}
`
const notInitializing = `vcl 4.1;
backend default none;
sub vcl_init {
  return (fail("because-of-init"));
}
`

async function checkRefusals(t: Test, harness: Harness): Promise<void> {
  const { api, cache, port } = harness
  const site = await findSite(harness, 'site')
  const loaded = await listVcls(cache)
  const revision = (await api.readGroup(site.id)).revision
  const traffic = startTraffic(t, cache)

  await api.editFile(site.file, notCompiling)
  const refusal = readRefusal(await api.act(site.id, 'deploy'), 422)
  t.match(refusal, /^site\.vcl line 5 pos \d+: .*nonsense/ms)
  t.match(refusal, 'edge', 'the agent is named')
  t.match(readRefusal(await api.act(site.id, 'validate'), 422), /^site\.vcl line 5 pos \d+: /m)
  await api.editFile(site.file, notInitializing)
  t.match(readRefusal(await api.act(site.id, 'deploy'), 422), 'because-of-init')

  await api.editFile(site.file, answering('valid'))
  port.forget()
  const valid = await api.act(site.id, 'validate')
  expectDone(valid)
  t.match(JSON.parse(valid.text), { name: 'site', compiledOn: 1 })
  t.same(await listVcls(cache), loaded, 'none of these VCLs stays loaded')
  t.notOk(port.changes().some((line) => line.startsWith('vcl.use')))
  t.same([...traffic.failures], [])
  t.same([...traffic.marks], ['second'], 'the old VCL served all the time')
  const group = await api.readGroup(site.id)
  t.match(group, { revision, deployed: true, stateName: 'Active' })
  const [newest] = await api.readHistory(site.id)
  t.match(newest, { revision: null, mainVCL: { version: 4 }, result: /because-of-init/ })
}

async function checkIncludes(t: Test, harness: Harness): Promise<void> {
  const { api, cache } = harness
  const good = 'sub answer {\n  set resp.http.X-Marker = "included";\n}\n'
  const include = await api.makeFile('answer.vcl', good, 2)
  const main = `vcl 4.1;
backend default none;
include "answer.vcl";
sub vcl_recv { return (synth(200)); }
sub vcl_synth { call answer; return (deliver); }
`
  const site = await findSite(harness, 'site')
  await api.editFile(site.file, main)
  const change = await api.call('PUT', `/vclgroups/${site.id}`, { includes: [{ id: include }] })
  t.equal(change.status, 200)
  expectDone(await api.act(site.id, 'deploy'))
  t.equal((await fetchMark(cache)).mark, 'included')

  await api.editFile(include, good.replace('"included"', 'nonsense.symbol'))
  const refusal = readRefusal(await api.act(site.id, 'deploy'), 422)
  t.match(refusal, /^answer\.vcl line 2 pos \d+: /m)
  t.equal((await fetchMark(cache)).mark, 'included')
}

interface Origin {
  readonly server: Server
  readonly port: number
  isHealthy: boolean
}

/** The agent of a cache that it did not start runs no tests unless configured to. */
async function checkUntested(t: Test, harness: Harness): Promise<void> {
  const { api } = harness
  t.notOk((await api.findAgent(harness.agentName))?.capabilities.includes('tests'))
  const test = await api.makeFile('a.test.yaml', 'steps: [{request: {url: /}}]\n', fileTypes.test)
  const site = await makeSite(harness, 'untested')
  const at = `/vclgroups/${site.id}`
  await api.call('PUT', at, { tests: [{ id: test }], requireTests: true })
  const told = /the tests of untested were not run: no Running agent/
  t.match(readRefusal(await api.act(site.id, 'validate'), 503), told)
  t.match(readRefusal(await api.act(site.id, 'deploy'), 503), told)
  await api.call('PUT', at, { requireTests: false })
  for (const verb of ['validate', 'deploy']) {
    const { status, text } = await api.act(site.id, verb)
    t.equal(status, 200, verb)
    t.match(JSON.parse(text), { warnings: [told] })
  }
  expectDone(await api.act(site.id, 'undeploy'))
  t.equal((await api.call('DELETE', at)).status, 204)
}

async function checkProbes(t: Test, harness: Harness): Promise<void> {
  const { api, cache, port } = harness
  const origin = await startOrigin(t)
  const site = await findSite(harness, 'site')
  await api.editFile(
    site.file,
    `vcl 4.1;
backend slow {
  .host = "127.0.0.1";
  .port = "${origin.port}";
  .probe = { .url = "/health"; .interval = 100ms; .window = 2; .threshold = 1; .initial = 0; }
}
sub vcl_recv { return (pass); }
`,
  )
  port.forget()
  const deploying = api.act(site.id, 'deploy')
  const isAsking = () => port.commands.filter((line) => line.startsWith('backend.list')).length > 4
  await eventually('the agent polls the health of the backends', isAsking)
  t.equal((await fetchMark(cache)).mark, 'included', 'meanwhile, the old VCL serves')
  t.notOk(port.changes().some((line) => line.startsWith('vcl.use')))

  origin.isHealthy = true
  expectDone(await deploying)
  t.same(await fetchMark(cache), { status: 200, mark: 'origin' }, 'the first request succeeds')
}

async function startOrigin(t: Test): Promise<Origin> {
  const server = createServer((request, response) => {
    const isSick = request.url === '/health' && !origin.isHealthy
    response.writeHead(isSick ? 503 : 200, { 'x-marker': 'origin' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // a TCP server has this form
  const origin: Origin = { server, port, isHealthy: false }
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return origin
}

async function checkUndeploy(t: Test, harness: Harness): Promise<void> {
  const { api, cache } = harness
  const site = await findSite(harness, 'site')
  t.equal((await api.call('DELETE', `/vclgroups/${site.id}`)).status, 409, 'it is deployed')

  expectDone(await api.act(site.id, 'undeploy'))

  t.equal((await fetchMark(cache)).status, 503)
  t.same(await listVcls(cache), ['cf-idle'])
  const group = await api.readGroup(site.id)
  t.match(group, { deployed: false, stateName: 'Inactive', agentStates: [] })
  t.match((await api.readHistory(site.id))[0], { action: 'undeploy', result: 'ok' })
  t.equal((await api.call('DELETE', `/vclgroups/${site.id}`)).status, 204)
}

async function checkTrio(t: Test, harness: Harness): Promise<void> {
  const { api, cache } = harness
  const second = await addCache(t, harness, 'second')
  const third = await addCache(t, harness, 'third')
  const site = await makeSite(harness, 'trio', { tag: 'trio', min: 2, max: 3 })
  await deploySite(harness, site)
  const readMarks = async () =>
    Promise.all([cache, second, third].map(async (one) => (await fetchMark(one)).mark))
  t.same(await readMarks(), ['trio-first', 'trio-first', 'trio-first'])

  const compiler = JSON.parse(await third.adm('param.show', '-j', 'cc_command')) as unknown[] // the envelope of -j
  const working = compiler.find((part) => typeof part === 'object' && part && 'value' in part)
  await third.adm('param.set', 'cc_command', '"exec false"')
  await editSite(harness, site, 'two-of-three')
  await deploySite(harness, site)
  t.same(await readMarks(), ['two-of-three', 'two-of-three', 'trio-first'])
  const group = await api.readGroup(site.id)
  t.equal(group.stateName, 'Degraded')
  const states = group.agentStates.map(({ agent, state }) => `${agent.name} ${state}`)
  t.same(states.toSorted(), ['edge applied', 'second applied', 'third failed'])
  const failed = group.agentStates.find(({ state }) => state === 'failed')
  t.equal(failed?.revision, 1, 'it still serves the old VCL')
  t.match(failed?.error, /compiler/i)

  await third.adm('param.set', 'cc_command', JSON.stringify((working as { value: string }).value)) // as just read
  await editSite(harness, site, 'three-of-three')
  await deploySite(harness, site)
  t.same(await readMarks(), ['three-of-three', 'three-of-three', 'three-of-three'])
  t.equal((await api.readGroup(site.id)).stateName, 'Active')

  await third.stop()
  await untilAgent(harness, 'Failing', 'third')
  await editSite(harness, site, 'without-third')
  await deploySite(harness, site)
  t.same(await readMarks(), ['without-third', 'without-third', undefined])
  t.equal((await api.readGroup(site.id)).stateName, 'Degraded', 'the deploy did not wait for it')
  await third.restart()
  const isActive = async () => (await api.readGroup(site.id)).stateName === 'Active'
  await eventually('it catches up once it is back', isActive)
  t.same(await readMarks(), ['without-third', 'without-third', 'without-third'])
}

async function addCache(t: Test, harness: Harness, name: string): Promise<Varnishd> {
  const cache = await startVarnishd(t)
  startAgent(t, cache, {
    coordinatorUrl: harness.link.url,
    name,
    stateDir: await makeStateDir(t),
    tags: ['trio'],
    joinToken: await harness.api.makeJoinToken(),
  })
  await untilAgent(harness, 'Running', name)
  return cache
}

async function findSite({ api }: Harness, name: string): Promise<{ id: number; file: number }> {
  const groups = JSON.parse((await api.call('GET', `/vclgroups?name=${name}`)).text) as {
    id: number
    mainVCL: { id: number }
  }[] // a list of groups
  const [group] = groups
  if (!group) throw new Error(`there is no group ${name}`)
  return { id: group.id, file: group.mainVCL.id }
}
