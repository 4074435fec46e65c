/** Simulated caches with their agents in one process, a coordinator in another: coming up, deploys, and what they cost. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiClient } from '../support/api-client.js'
import {
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
  type TestEnd,
} from '../support/daemon.js'
import { measureBareDeploy } from './bare-deploy.js'
import { formatMegabytes, formatMs, quantile, type Report } from './figure.js'
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
const rollbackGoalMs = 1_000
const restartGoalMs = 15_000
/** Two heartbeats: what a coordinator that came back would want to change, it has asked for by then. */
const settleMs = 10_000

/** @param overheadGoalMs of a deploy, beyond the compilation; null: only reported */
export function fleetOf(size: number, overheadGoalMs: number | null) {
  return async (t: TestEnd, report: Report): Promise<void> => {
    const bareMs = await measureBareDeploy(t, size)
    const coordinator = await startCoordinator(t)
    const { api, daemon } = coordinator
    await pause(1_000)
    const bareBytes = await readResidentBytes(daemon.pid)
    const fleet = await measureArrival(t, coordinator, size, report)
    await reportMemory(daemon, bareBytes, `${size} agents idle`, report)

    const group = await makeFleetGroup(api, { tag: 'simulated', max: size })
    const harness: Harness = { coordinator, fleet, size, group, report, bareMs, overheadGoalMs }
    await measureVerb(harness, 'deploy', 'deploy')
    await untilAllApplied(api, fleet, { id: group.id, size })
    await measureUnchanged(harness)
    await api.editFile(group.fileId, writeVcl('second'))
    await measureVerb(harness, 'deploy of a changed source', 'deploy')
    await untilAllApplied(api, fleet, { id: group.id, size })
    await measureRollbacks(harness)
    await measureRestart(harness)
    await measureVerb(harness, 'undeploy', 'undeploy')
    await reportMemory(coordinator.daemon, bareBytes, 'then', report)
    await measureIdle(harness)
  }
}

interface Harness {
  readonly coordinator: CoordinatorProcess
  readonly fleet: Daemon
  readonly size: number
  readonly group: FleetGroup
  readonly report: Report
  /** Of a deploy with nothing decided, beyond the compilation. */
  readonly bareMs: number
  readonly overheadGoalMs: number | null
}

/** From the start of the fleet's process; the coordinator knows none of them before. */
async function measureArrival(
  t: TestEnd,
  { api, base, daemon }: CoordinatorProcess,
  size: number,
  report: Report,
): Promise<Daemon> {
  const joinToken = await api.makeJoinToken(size + 1)
  const cpuBeforeMs = await readCpuMs(daemon.pid)
  await readLoopDelay(base)
  const startedAt = performance.now()
  const fleet = await startFleet(t, { size, joinToken, bases: [base], name: 'fleet' })
  await untilAllRun(api, fleet, { size })
  report({
    name: `fleet: until ${size} new agents are Running`,
    measured: formatMs(performance.now() - startedAt),
    baseline: `CPU of the coordinator ${formatMs((await readCpuMs(daemon.pid)) - cpuBeforeMs)}`,
    goal: null,
  })
  await reportLoopDelay(base, report)
  await untilAllHold(api, fleet)
  return fleet
}

async function reportMemory(
  { pid }: Daemon,
  bareBytes: number,
  when: string,
  report: Report,
): Promise<void> {
  const bytes = await readResidentBytes(pid)
  const peak = formatMegabytes(await readPeakBytes(pid))
  report({
    name: `fleet: RSS of the coordinator, ${when}`,
    measured: formatMegabytes(bytes),
    baseline: `without agents ${formatMegabytes(bareBytes)}, peak ${peak}`,
    ratio: bytes / bareBytes,
    goal: null,
  })
}

/** From the call to its answer, which comes when all agents have applied. */
async function measureVerb(
  harness: Harness,
  name: string,
  verb: 'deploy' | 'undeploy',
): Promise<void> {
  const { coordinator, group, size, report, overheadGoalMs } = harness
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
    ...(overheadGoalMs === null
      ? { goal: null }
      : { goal: `<= ${overheadGoalMs} ms`, isMet: overheadMs <= overheadGoalMs }),
  })
  await reportLoopDelay(coordinator.base, report)
}

async function reportLoopDelay(base: string, report: Report): Promise<void> {
  const delay = await readLoopDelay(base)
  report({
    name: "fleet: coordinator's event loop meanwhile, p99",
    measured: formatMs(delay.p99Ms),
    baseline: `longest ${formatMs(delay.longestMs)}`,
    goal: null,
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

/** To and fro between two revisions that the caches hold: nothing is compiled. */
async function measureRollbacks({ coordinator, group, size, report }: Harness): Promise<void> {
  const { api } = coordinator
  const tookMs = await timeRollbacks(api, group.id, rollbacks)
  const p95Ms = quantile(tookMs, 0.95)
  report({
    name: `fleet: rollback, all ${size}, p95 of ${rollbacks}`,
    measured: formatMs(p95Ms),
    baseline: `median ${formatMs(quantile(tookMs, 0.5))}`,
    goal: `<= ${rollbackGoalMs} ms`,
    isMet: p95Ms <= rollbackGoalMs,
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

/** Killed, and started again at once. */
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
    goal: `<= ${restartGoalMs} ms`,
    isMet: tookMs <= restartGoalMs,
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

async function measureIdle({ coordinator, size, report }: Harness): Promise<void> {
  const { pid } = coordinator.daemon
  const cpuBeforeMs = await readCpuMs(pid)
  await pause(idleMs)
  const cpuMs = (await readCpuMs(pid)) - cpuBeforeMs
  report({
    name: `fleet: CPU of the coordinator, ${size} agents idle`,
    measured: `${((100 * cpuMs) / idleMs).toFixed(1)} % of a core`,
    baseline: null,
    goal: null,
  })
}
