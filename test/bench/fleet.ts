/** Simulated caches with their agents in one process, a coordinator in another: arrival, deploys, and their cost. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiClient } from '../support/api-client.js'
import {
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
  type TestEnd,
} from '../support/daemon.js'
import { measureBareDeploy } from './bare-deploy.js'
import { formatMegabytes, formatMs, quantile, type Figure, type Report } from './figure.js'
import {
  compileMs,
  countChanged,
  makeFleetGroup,
  readConfigs,
  readLoopDelay,
  startFleet,
  timeVerb,
  untilAllApplied,
  untilAllBack,
  untilAllHold,
  untilAllRun,
  writeVcl,
  type FleetGroup,
} from './fleet-harness.js'
import { readCpuMs, readPeakBytes, readResidentBytes } from './process-reading.js'

const idleMs = 10_000
const rollbacks = 20
const restartGoalMs = 15_000
/** Two heartbeats: a restarted coordinator has sent any changes by then. */
const settleMs = 10_000
/** The events of ten thousand agents are recorded by then, in a ninth of the time. */
const recordedMs = 20_000

/** A goal that is absent makes its figure only reported. */
interface FleetGoals {
  readonly arrivalMs?: number
  /** Of the coordinator, with all agents idle. */
  readonly idleMegabytes?: number
  /** Of a core. */
  readonly idlePercent?: number
  /** Of a deploy, in addition to the compilation. */
  readonly overheadMs?: number
  /** While agents arrive, and during deploys. */
  readonly loopP99Ms?: number
  readonly rollbackMs?: number
}

export function fleetOf(size: number, goals: FleetGoals) {
  return async (t: TestEnd, report: Report): Promise<void> => {
    const bareMs = await measureBareDeploy(t, size)
    const coordinator = await startCoordinator(t)
    const { api, daemon } = coordinator
    await pause(1_000)
    const bareBytes = await readResidentBytes(daemon.pid)
    const begun = { coordinator, size, report, goals }
    const fleet = await measureArrival(t, begun)
    await pause(idleMs)
    await reportMemory(daemon, bareBytes, `${size} agents idle`, begun)

    const group = await makeFleetGroup(api, { tag: 'simulated', max: size })
    const harness: Harness = { ...begun, fleet, group, bareMs }
    await measureVerb(harness, 'deploy', 'deploy')
    await untilAllApplied(api, fleet, { id: group.id, size })
    await measureUnchanged(harness)
    await api.editFile(group.fileId, writeVcl('second'))
    await measureVerb(harness, 'deploy of a changed source', 'deploy')
    await untilAllApplied(api, fleet, { id: group.id, size })
    await measureRollbacks(harness)
    await measureRestart(harness)
    await measureVerb(harness, 'undeploy', 'undeploy')
    await reportMemory(coordinator.daemon, bareBytes, 'then', { report, goals: {} })
    await measureIdle(harness)
  }
}

interface Begun {
  readonly coordinator: CoordinatorProcess
  readonly size: number
  readonly report: Report
  readonly goals: FleetGoals
}

interface Harness extends Begun {
  readonly fleet: Daemon
  readonly group: FleetGroup
  /** Of a deploy without decisions, in addition to the compilation. */
  readonly bareMs: number
}

/** `most`: undefined if the figure is only reported. */
function atMost(
  measured: number,
  most: number | undefined,
  unit: string,
): Pick<Figure, 'goal' | 'isMet'> {
  return most === undefined
    ? { goal: null }
    : { goal: `<= ${most} ${unit}`, isMet: measured <= most }
}

/** From the start of the fleet's process; the coordinator does not know its agents before. */
async function measureArrival(
  t: TestEnd,
  { coordinator: { api, base, daemon }, size, report, goals }: Begun,
): Promise<Daemon> {
  const joinToken = await api.makeJoinToken(size + 1)
  const cpuBeforeMs = await readCpuMs(daemon.pid)
  await readLoopDelay(base)
  const startedAt = performance.now()
  const fleet = await startFleet(t, { size, joinToken, bases: [base], name: 'fleet' })
  await untilAllRun(api, fleet, { size })
  const tookMs = performance.now() - startedAt
  report({
    name: `fleet: until ${size} new agents are Running`,
    measured: formatMs(tookMs),
    baseline: `CPU of the coordinator ${formatMs((await readCpuMs(daemon.pid)) - cpuBeforeMs)}`,
    ...atMost(tookMs, goals.arrivalMs, 'ms'),
  })
  await reportLoopDelay(base, { report, goals })
  await untilAllHold(api, fleet)
  return fleet
}

async function reportMemory(
  { pid }: Daemon,
  bareBytes: number,
  when: string,
  { report, goals }: Pick<Begun, 'report' | 'goals'>,
): Promise<void> {
  const bytes = await readResidentBytes(pid)
  const peak = formatMegabytes(await readPeakBytes(pid))
  report({
    name: `fleet: RSS of the coordinator, ${when}`,
    measured: formatMegabytes(bytes),
    baseline: `without agents ${formatMegabytes(bareBytes)}, peak ${peak}`,
    ratio: bytes / bareBytes,
    ...atMost(bytes / 2 ** 20, goals.idleMegabytes, 'MB'),
  })
}

/** From the call to its answer, which comes when all agents have applied. */
async function measureVerb(
  harness: Harness,
  name: string,
  verb: 'deploy' | 'undeploy',
): Promise<void> {
  const { coordinator, group, size, report, goals } = harness
  const { pid } = coordinator.daemon
  await readLoopDelay(coordinator.base)
  const cpuBeforeMs = await readCpuMs(pid)
  const tookMs = await timeVerb(coordinator.api, group.id, verb)
  const cpuMs = (await readCpuMs(pid)) - cpuBeforeMs
  const overheadMs = verb === 'deploy' ? tookMs - compileMs : tookMs
  report({
    name: `fleet: ${name}, all ${size}, beyond compile`,
    measured: formatMs(overheadMs),
    baseline: `bare ${formatMs(harness.bareMs)}; coordinator's CPU ${formatMs(cpuMs)}`,
    ratio: overheadMs / harness.bareMs,
    ...atMost(overheadMs, goals.overheadMs, 'ms'),
  })
  await reportLoopDelay(coordinator.base, harness)
}

async function reportLoopDelay(
  base: string,
  { report, goals }: Pick<Begun, 'report' | 'goals'>,
): Promise<void> {
  const delay = await readLoopDelay(base)
  report({
    name: "fleet: coordinator's event loop meanwhile, p99",
    measured: formatMs(delay.p99Ms),
    baseline: `longest ${formatMs(delay.longestMs)}`,
    ...atMost(delay.p99Ms, goals.loopP99Ms, 'ms'),
  })
}

async function measureUnchanged({ coordinator, group, report }: Harness): Promise<void> {
  const { api } = coordinator
  const before = await readConfigs(api)
  const tookMs = await timeVerb(api, group.id, 'deploy')
  const changed = countChanged(before, await readConfigs(api))
  report({
    name: 'fleet: agents that an unchanged deploy asks for anything',
    measured: String(changed),
    baseline: `answered after ${formatMs(tookMs)}`,
    goal: '0',
    isMet: changed === 0,
  })
}

/** Back and forth between two revisions that the caches hold: nothing is compiled. */
async function measureRollbacks({
  coordinator,
  group,
  size,
  report,
  goals,
}: Harness): Promise<void> {
  const { api } = coordinator
  const tookMs = await timeRollbacks(api, group.id, rollbacks)
  const p95Ms = quantile(tookMs, 0.95)
  report({
    name: `fleet: rollback, all ${size}, p95 of ${rollbacks}`,
    measured: formatMs(p95Ms),
    baseline: `median ${formatMs(quantile(tookMs, 0.5))}`,
    ...atMost(p95Ms, goals.rollbackMs, 'ms'),
  })
}

export async function timeRollbacks(
  api: ApiClient,
  groupId: number,
  count: number,
): Promise<number[]> {
  const tookMs: number[] = []
  for (let number = 0; number < count; number++)
    tookMs.push(await timeVerb(api, groupId, 'rollback'))
  return tookMs
}

/** Killed, and restarted at once. */
async function measureRestart({ coordinator, fleet, size, report }: Harness): Promise<void> {
  const { api } = coordinator
  await untilAllHold(api, fleet)
  const before = await readConfigs(api)
  await coordinator.daemon.kill()
  const sinceMs = Date.now()
  await coordinator.start()
  const readyMs = Date.now() - sinceMs
  await untilAllBack(api, fleet, sinceMs)
  const tookMs = Date.now() - sinceMs
  report({
    name: `fleet: coordinator killed and started, until all ${size} are back`,
    measured: formatMs(tookMs),
    baseline: `ready after ${formatMs(readyMs)}`,
    ratio: tookMs / readyMs,
    ...atMost(tookMs, restartGoalMs, 'ms'),
  })
  await pause(settleMs)
  const changed = countChanged(before, await readConfigs(api))
  report({
    name: 'fleet: agents that it then asks for anything',
    measured: String(changed),
    baseline: null,
    goal: '0',
    isMet: changed === 0,
  })
}

async function measureIdle({ coordinator, size, report, goals }: Harness): Promise<void> {
  const { pid } = coordinator.daemon
  await pause(recordedMs)
  const cpuBeforeMs = await readCpuMs(pid)
  await pause(idleMs)
  const percent = (100 * ((await readCpuMs(pid)) - cpuBeforeMs)) / idleMs
  report({
    name: `fleet: CPU of the coordinator, ${size} agents idle`,
    measured: `${percent.toFixed(1)} % of a core`,
    baseline: null,
    ...atMost(percent, goals.idlePercent, '%'),
  })
}
