/**
 * The contract of an agent with its cache, for each release from 6.0 to 9: deploys, labels and routing, settings, health, drift, restarts
 * and rollback work or are refused with a reason; the agent sends nothing that a release does not survive.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ban } from '../../protocol/commands/ban.js'
import { paramSet } from '../../protocol/commands/param.js'
import { vclInline, vclLabel, vclUse } from '../../protocol/commands/vcl.js'
import { hasQuirk } from '../../protocol/quirks.js'
import { hasCommand, isSince, type Since } from '../../protocol/release.js'
import { createSimulatedEngine } from '../support/simulated-engine.js'
import { readPidsOnDisk } from '../../src/agent/apply/inventory.js'
import type { DesiredEngine } from '../../src/vcl/desired-engine.js'
import { parallel } from '../support/parallel.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import { startCoordinatorEnd } from './coordinator-end.js'
import {
  apply,
  ask,
  domains,
  listVcls,
  program,
  readParam,
  secret,
  start,
  untilEffective,
  vcl,
  type Harness,
} from './release-harness.js'
import { changesIn, makeFolder, runTestAgent } from './run-agent.js'

/** The first and last of the 6.0 branch, those between where behaviour changed, and the last of each later branch. */
const releases = [
  ...['6.0.0', '6.0.4', '6.0.6', '6.0.16', '6.1.1', '6.2.3', '6.3.2', '6.4.0', '6.5.2', '6.6.2'],
  ...['7.0.3', '7.1.1', '7.2.1', '7.3.2', '7.4.3', '7.5.0', '7.6.5', '7.7.3', '8.0.0', '9.0.2'],
]

const noneBackend: Since = ['6.0.6', '6.4']
const isPatternSafe = (release: string) => !hasQuirk(release, 'patternKillsChild')

async function deploysRootVcl(harness: Harness): Promise<void> {
  const { t, engine, agent } = harness
  const [one, two] = [program(harness, 1, '1'), program(harness, 1, '2')]
  const first = { load: [one], labels: [], active: one.name }
  t.match(await apply(harness, first), { result: 'applied', loaded: [one.name], failures: [] })
  t.same(await listVcls(harness), [`*${one.name}`])
  const both = { load: [one, two], labels: [], active: two.name }
  t.match(await apply(harness, both), { result: 'applied', loaded: [one.name, two.name] })
  const from = agent.lines.length
  t.match(await apply(harness, { ...both, active: one.name }), { result: 'applied' })
  t.same(changesIn(agent, from), [`vcl.use ${one.name}`], 'a rollback is a switch')
  t.ok(engine.journal.includes(`vcl.show boot`), 'the foreign VCL was saved')
}

async function tellsWhatDoesNotCompile(harness: Harness): Promise<void> {
  const { t, release, coordinator } = harness
  const good = program(harness, 1, '1')
  const name = 'cf-1-bbbbbbbb-1'
  const none = { name, sha: coordinator.publish('vcl 4.0;\nbackend default none;\n') }
  const report = await apply(harness, { load: [good, none], labels: [], active: good.name })
  if (isSince(release, noneBackend)) t.match(report, { result: 'applied', failures: [] })
  else
    t.match(report, {
      result: 'failed',
      failures: [{ program: name, error: /Expected '\{' got 'none'/ }],
    })
  t.match(await apply(harness, { load: [good], labels: [], active: good.name }), {
    result: 'applied',
  })
}

async function routesDomains(harness: Harness): Promise<void> {
  const { t, agent } = harness
  t.match(await apply(harness, domains(harness, '1')), { result: 'applied', failures: [] })
  t.match(await apply(harness, domains(harness, '2')), { result: 'applied', failures: [] })
  const vcls = await listVcls(harness)
  t.ok(vcls.includes('cf-l-2 -> cf-2-aaaaaaaa-1'), vcls.join())
  t.ok(vcls.includes('cf-l-3 -> cf-3-aaaaaaaa-2'), vcls.join())
  const discards = changesIn(agent).filter((line) => line.startsWith('vcl.discard'))
  if (hasQuirk(harness.release, 'discardsOneName'))
    t.ok(
      discards.every((line) => line.split(' ').length === 2),
      'one name at a time',
    )
}

async function keepsParameters(harness: Harness): Promise<void> {
  const { t, coordinator } = harness
  const before = await readParam(harness, 'feature')
  const params = [
    { name: 'default_ttl', value: '10' },
    { name: 'feature', value: '+http2,+wait_silo' },
  ]
  t.match(await apply(harness, { ...domains(harness, '2'), params }), {
    error: null,
    changed: true,
  })
  t.equal(await readParam(harness, 'default_ttl'), '10.000')
  t.match(await readParam(harness, 'feature'), /\+http2.*\+wait_silo/)
  t.match(await apply(harness, { ...domains(harness, '2'), params }), { changed: false })
  const refused = { kind: 'setParam', name: 'default_ttl', value: '-1' } as const
  t.match((await coordinator.ask(refused)).value, { refusal: /Must be greater/ })
  t.match(await apply(harness, domains(harness, '2')), { result: 'applied', error: null })
  t.equal(await readParam(harness, 'default_ttl'), '120.000')
  t.equal(await readParam(harness, 'feature'), before, 'every bit we set is reset')
}

async function setsBackendHealth(harness: Harness): Promise<void> {
  const { t, release, coordinator } = harness
  const groups = null
  const health: DesiredEngine['health'] = [{ backend: 'default', health: 'sick', groups }]
  const sick = { kind: 'setHealth', backend: 'default', health: 'sick', groups } as const
  const answer = await coordinator.ask(sick)
  const command = await coordinator.ask({ kind: 'command', line: 'backend.list *.default' })
  const names = ((await ask(harness, 'backends')) as { name: string }[]).map(({ name }) => name) // a query's shape
  if (!isPatternSafe(release)) {
    t.match(answer, { result: 'refused', error: /label/ })
    t.match(command, { result: 'refused', error: /label/ })
    t.ok(names.length > 0 && names.every((name) => name.startsWith('cf-r-')), 'only the active VCL')
    t.match(await apply(harness, { ...domains(harness, '2'), health }), { result: 'applied' })
    await apply(harness, domains(harness, '2'))
    return
  }
  t.match(command, { result: 'done', value: /cf-3-aaaaaaaa-2\.default/ })
  t.match(answer.value, { refusal: null })
  t.ok((answer.value as { backends: string[] }).backends.includes('cf-3-aaaaaaaa-2.default')) // its shape
  t.ok(names.includes('cf-2-aaaaaaaa-1.probed'))
  await apply(harness, { ...domains(harness, '2'), health })
  harness.engine.killChild()
  await eventually('sick again with a new child', async () => {
    const rows = (await ask(harness, 'backends')) as { name: string; adminHealth: string }[] // a query's shape
    return rows.find(({ name }) => name === 'cf-3-aaaaaaaa-2.default')?.adminHealth === 'sick'
  })
  await apply(harness, domains(harness, '2'))
}

async function healsDrift(harness: Harness): Promise<void> {
  const { t, coordinator, meddle } = harness
  await untilEffective(harness)
  await meddle(vclInline('foreign-1', vcl('somebody')))
  await meddle(vclLabel('l-foreign', 'foreign-1'))
  await meddle(vclLabel('cf-l-3', 'foreign-1'))
  await meddle(vclUse('foreign-1'))
  const drift = await eventually('healed', () =>
    coordinator.drifts().find(({ healedAt }) => healedAt),
  )
  t.ok(drift.foreign.includes('foreign-1'))
  await eventually('as desired', async () => {
    const vcls = await listVcls(harness)
    return vcls.includes('cf-l-3 -> cf-3-aaaaaaaa-2') && !vcls.join().includes('foreign')
  })
}

async function comesBackAfterRestarts(harness: Harness): Promise<void> {
  const { t, engine, coordinator } = harness
  await untilEffective(harness)
  const reported = coordinator.drifts().length
  const vcls = await listVcls(harness)
  engine.killChild({ panic: true })
  await eventually('the panic is available', async () =>
    /Panic at/.test(String(await ask(harness, 'panic'))),
  )
  engine.restartManager()
  await eventually('all are back', async () => (await listVcls(harness)).join() === vcls.join())
  await untilEffective(harness)
  t.equal(coordinator.drifts().length, reported, 'a restart is not drift')
}

async function waitsForProbes(harness: Harness): Promise<void> {
  const { t, engine, agent, release } = harness
  engine.setProbes('sick')
  const from = engine.journal.length
  const lines = agent.lines.length
  t.match(await apply(harness, domains(harness, '3')), { result: 'applied', failures: [] })
  const asked = engine.journal.slice(from).filter((line) => line.startsWith('backend.list'))
  const isAsked = asked.some((line) => line.includes('cf-3-aaaaaaaa-3'))
  t.equal(isAsked, isPatternSafe(release), 'probes are queried where that is safe')
  const isLogged = agent.lines
    .slice(lines)
    .some(({ msg }) => msg.includes('probes are not healthy'))
  t.equal(isLogged, false, 'it was already sick under that name')
  engine.setProbes('healthy')
}

async function answersReading(harness: Harness): Promise<void> {
  const { t, release, coordinator, meddle } = harness
  await meddle(ban([{ field: 'req.url', operator: '~', value: '^/a' }]))
  const [newest] = (await ask(harness, 'bans')) as { expression: string }[] // a query's shape
  t.equal(newest?.expression, 'req.url ~ ^/a')
  for (const line of ['ping', 'status', 'banner', 'help', 'vcl.list', 'param.show feature'])
    t.match(await coordinator.ask({ kind: 'command', line }), { result: 'done', value: /./ }, line)
  const shown = await coordinator.ask({ kind: 'command', line: 'vcl.show cf-l-2' })
  if (hasQuirk(release, 'shownLabelKillsChild'))
    t.match(shown, { result: 'refused', error: /label: .* cf-l-2 stands for/ })
  else t.match(shown, { result: 'done', value: /vcl 4/ })
  await meddle(paramSet('cli_limit', '300b'))
  const isFailing = () => coordinator.condition()?.engineState === 'unknown'
  await eventually('a truncated list makes it Failing', isFailing)
  t.match(coordinator.condition()?.engineError, /cut at cli_limit/)
  await meddle(paramSet('cli_limit', '64k'))
  await eventually('running', () => coordinator.condition()?.engineState === 'running')
}

/** The agent sent no command that this release does not know or whose child would not survive. */
function checkJournal({ t, release, engine }: Harness, childPid: number | undefined): void {
  t.equal(engine.childPid, childPid, 'no command killed the child')
  const words = new Set(engine.journal.map((line) => line.split(' ', 1)[0] ?? ''))
  for (const command of ['pid', 'param.reset', 'vcl.deps'])
    if (!hasCommand(release, command)) t.notOk(words.has(command), command)
  const labelled = engine.journal.findIndex((line) => line.startsWith('vcl.label'))
  t.ok(labelled >= 0)
  const dotted = engine.journal.slice(labelled).filter((line) => /^backend\.\S+ .*\./.test(line))
  if (!isPatternSafe(release)) t.same(dotted, [])
}

// They mostly wait.
t.jobs = 10

for (const release of releases)
  void t.test(`an agent beside ${release}`, parallel(), async (t) => {
    const harness = await start(t, release)
    const { childPid } = harness.engine
    await deploysRootVcl(harness)
    await tellsWhatDoesNotCompile(harness)
    await routesDomains(harness)
    await keepsParameters(harness)
    await answersReading(harness)
    await waitsForProbes(harness)
    await apply(harness, domains(harness, '2'))
    await healsDrift(harness)
    checkJournal(harness, childPid)
    await setsBackendHealth(harness)
    await comesBackAfterRestarts(harness)
    const idle = { load: [], labels: [], active: 'cf-idle' }
    t.match(await apply(harness, idle), { result: 'applied', failures: [] })
    t.same(await listVcls(harness), ['*cf-idle'])
  })

void t.test('without the command pid the working directory provides the pid', async (t) => {
  const cache = await startVarnishd(t)
  t.same(
    await readPidsOnDisk(cache.workDir),
    { masterPid: cache.pid(), workerPid: await cache.childPid() },
    'the format matches the real cache',
  )
  const folder = await makeFolder(t)
  t.same(await readPidsOnDisk(folder), { masterPid: null, workerPid: null })
  await mkdir(join(folder, '_.vsm_mgt'))
  await writeFile(join(folder, '_.vsm_mgt', '_.index'), '# 4711 1795163242\n')

  const coordinator = await startCoordinatorEnd(t)
  const engine = createSimulatedEngine({ version: '6.0.0', secret })
  t.teardown(() => {
    engine.close()
  })
  const { host, port } = await engine.listen()
  const secretFile = join(folder, 'secret')
  await writeFile(secretFile, secret)
  await runTestAgent(t, coordinator, {
    mode: 'attach',
    host,
    port,
    secretFile,
    workingDirectory: folder,
  })
  await coordinator.hello()
  await eventually('the pid is reported', () => coordinator.condition()?.cachePid === 4711)
})
