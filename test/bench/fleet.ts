/** 1,000 simulated caches with their agents in one process, a coordinator in another: coming up, deploys, and what they cost. */
import { setTimeout as pause } from 'node:timers/promises'
import type { AgentView, ApiClient } from '../support/api-client.js'
import {
  makeStateDir,
  startCoordinator,
  startDaemon,
  type CoordinatorProcess,
  type TestEnd,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { formatMegabytes, formatMs, type Report } from './figure.js'
import { readCpuMs, readPeakBytes, readResidentBytes } from './process-reading.js'

const fleetSize = 1_000
const compileMs = 200
const overheadGoalMs = 1_500
const patienceMs = 90_000
const idleMs = 10_000
/** Looking at a fleet that arrives costs the coordinator something, too. */
const pollMs = 100

export async function measureFleet(t: TestEnd, report: Report): Promise<void> {
  const coordinator = await startCoordinator(t)
  const { api, daemon } = coordinator
  await pause(1_000)
  const bareBytes = await readResidentBytes(daemon.pid)
  await measureArrival(t, coordinator, report)

  const fileId = await api.makeFile('main.vcl', writeVcl('first'))
  const deploymentId = await api.makeDeployment('all', await api.findTag('simulated'), {
    min: 1,
    max: fleetSize,
  })
  const groupId = await api.makeGroup({ name: 'all', mainFile: fileId, deployment: deploymentId })
  const verb = { coordinator, groupId, report }
  await measureVerb({ ...verb, name: 'deploy', path: 'deploy', compileMs })
  await requireApplied(api, groupId)
  await measureUnchanged(coordinator, groupId, report)
  await api.editFile(fileId, writeVcl('second'))
  await measureVerb({ ...verb, name: 'deploy of a changed source', path: 'deploy', compileMs })
  await requireApplied(api, groupId)
  await measureVerb({ ...verb, name: 'undeploy', path: 'undeploy', compileMs: 0 })

  const bytes = await readResidentBytes(daemon.pid)
  const peak = formatMegabytes(await readPeakBytes(daemon.pid))
  report({
    name: 'fleet: RSS of the coordinator, then',
    measured: formatMegabytes(bytes),
    baseline: `without agents ${formatMegabytes(bareBytes)}, peak ${peak}`,
    ratio: bytes / bareBytes,
    goal: null,
  })
  await measureIdle(coordinator, report)
}

function writeVcl(word: string): string {
  return [
    'vcl 4.1;',
    'backend origin { .host = "192.0.2.1"; }',
    'sub vcl_recv { if (req.url ~ "^/admin") { return (synth(403)); } }',
    `sub vcl_deliver { set resp.http.X-Deploy = "${word}"; }`,
    '',
  ].join('\n')
}

/** From the start of the fleet's process; the coordinator knows none of them before. */
async function measureArrival(
  t: TestEnd,
  { api, base, daemon }: CoordinatorProcess,
  report: Report,
): Promise<void> {
  const joinToken = await api.makeJoinToken(fleetSize + 1)
  const stateDir = await makeStateDir(t)
  const cpuBeforeMs = await readCpuMs(daemon.pid)
  const bareBytes = await readResidentBytes(daemon.pid)
  const startedAt = performance.now()
  const fleet = startDaemon(
    t,
    [
      // The process's own agent is simulated too, and bears no tag.
      ...['--engine', 'simulate', '--simulate', String(fleetSize), '--name', 'fleet'],
      ...['--simulate-compile-ms', String(compileMs), '--state-dir', stateDir],
      ...['--coordinator-url', base.replace(/^http/, 'ws'), '--log-level', 'warn'],
    ],
    { CACHEFLEET_JOIN_TOKEN: joinToken },
  )
  const agents = '/agents?tags.name=simulated&stateName=Running&take=1'
  await eventually(
    'all are Running',
    async () => {
      if (!fleet.isRunning()) throw new Error(`the fleet ended: ${fleet.errors()}`)
      await pause(pollMs)
      const { headers } = await api.call('GET', agents)
      return headers.get('x-total-count') === String(fleetSize)
    },
    patienceMs,
  )
  report({
    name: `fleet: until ${fleetSize} new agents are Running`,
    measured: formatMs(performance.now() - startedAt),
    baseline: `CPU of the coordinator ${formatMs((await readCpuMs(daemon.pid)) - cpuBeforeMs)}`,
    goal: null,
  })
  await eventually(
    'all hold the idle VCL',
    async () => {
      await pause(pollMs)
      const views = await api.listAgents()
      return views.every(({ config }) => config.effective.revision === config.desired.revision)
    },
    patienceMs,
  )
  const bytes = await readResidentBytes(daemon.pid)
  report({
    name: 'fleet: RSS of the coordinator, agents idle',
    measured: formatMegabytes(bytes),
    baseline: `without agents ${formatMegabytes(bareBytes)}`,
    ratio: bytes / bareBytes,
    goal: null,
  })
}

interface VerbOrder {
  readonly coordinator: CoordinatorProcess
  readonly report: Report
  readonly groupId: number
  readonly name: string
  readonly path: 'deploy' | 'undeploy'
  /** What each cache takes for it whatever we do. */
  readonly compileMs: number
}

/** From the call to its answer, which comes when all agents have applied. */
async function measureVerb(order: VerbOrder): Promise<void> {
  const { coordinator, report, groupId, name } = order
  const { pid } = coordinator.daemon
  await readLoopDelay(coordinator.base)
  const cpuBeforeMs = await readCpuMs(pid)
  const startedAt = performance.now()
  const { status, text } = await coordinator.api.act(groupId, order.path, '?wait=120s')
  const tookMs = performance.now() - startedAt
  if (status !== 200) throw new Error(`${name} was answered ${status}: ${text.slice(0, 500)}`)
  const cpuMs = (await readCpuMs(pid)) - cpuBeforeMs
  const overheadMs = tookMs - order.compileMs
  report({
    name: `fleet: ${name}, all ${fleetSize}, beyond compile`,
    measured: formatMs(overheadMs),
    baseline: `compile ${order.compileMs} ms; coordinator's CPU ${formatMs(cpuMs)}`,
    goal: `<= ${overheadGoalMs} ms`,
    isMet: overheadMs <= overheadGoalMs,
  })
  const delay = await readLoopDelay(coordinator.base)
  report({
    name: "fleet: coordinator's event loop meanwhile, p99",
    measured: formatMs(delay.p99Ms),
    baseline: `longest ${formatMs(delay.longestMs)}`,
    goal: null,
  })
}

async function requireApplied(api: ApiClient, groupId: number): Promise<void> {
  const { agentStates } = await api.readGroup(groupId)
  const applied = agentStates.filter(({ state }) => state === 'applied').length
  if (applied !== fleetSize) throw new Error(`${applied} of ${fleetSize} agents have applied`)
}

/**
 * `lastAttempted.at` moves when an agent was asked to apply anything, whether or not it then had something to do, and
 * what is sent has a revision of its own: nothing of both moved, so no cache was sent a changing command.
 */
async function measureUnchanged(
  { api }: CoordinatorProcess,
  groupId: number,
  report: Report,
): Promise<void> {
  const before = describeConfigs(await api.listAgents())
  const startedAt = performance.now()
  const { status } = await api.act(groupId, 'deploy', '?wait=120s')
  const tookMs = performance.now() - startedAt
  if (status !== 200) throw new Error(`the unchanged deploy was answered ${status}`)
  const after = describeConfigs(await api.listAgents())
  const changed = [...after].filter(([id, config]) => before.get(id) !== config).length
  report({
    name: 'fleet: agents that an unchanged deploy asks for anything',
    measured: String(changed),
    baseline: `answered after ${formatMs(tookMs)}`,
    goal: '0',
    isMet: changed === 0,
  })
}

function describeConfigs(agents: readonly AgentView[]): ReadonlyMap<number, string> {
  return new Map(agents.map(({ id, config }) => [id, JSON.stringify(config)]))
}

interface LoopDelay {
  readonly p99Ms: number
  readonly longestMs: number
}

/** Since it was read last: reading begins anew. */
async function readLoopDelay(base: string): Promise<LoopDelay> {
  const text = await (await fetch(`${base}/metrics`)).text()
  const read = (name: string) =>
    1000 * Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  return {
    p99Ms: read('nodejs_eventloop_lag_p99_seconds'),
    longestMs: read('nodejs_eventloop_lag_max_seconds'),
  }
}

async function measureIdle({ daemon }: CoordinatorProcess, report: Report): Promise<void> {
  const cpuBeforeMs = await readCpuMs(daemon.pid)
  await pause(idleMs)
  const cpuMs = (await readCpuMs(daemon.pid)) - cpuBeforeMs
  report({
    name: `fleet: CPU of the coordinator, ${fleetSize} agents idle`,
    measured: `${((100 * cpuMs) / idleMs).toFixed(1)} % of a core`,
    baseline: null,
    goal: null,
  })
}
