/** One agent process beside a running real cache, linked to a coordinator in another process. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
  type TestEnd,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { measureBareStart, measureLinkedMemory } from './bare-node.js'
import { formatMegabytes, formatMs, median, type Report } from './figure.js'
import { readCpuMs, readResidentBytes } from './process-reading.js'

const starts = 7
const startGoalMs = 500
const startedGoalBytes = 70e6
const idleGoalBytes = 60e6
const idleMs = 60_000
/** For its link and its cache to settle. */
const settleMs = 3_000

export async function measureAgent(t: TestEnd, report: Report): Promise<void> {
  const cache = await startVarnishd(t)
  const coordinator = await startCoordinator(t)
  const linkedBytes = await measureLinkedMemory(t)
  const joinToken = await coordinator.api.makeJoinToken(starts)

  const startsMs: number[] = []
  const bareMs: number[] = []
  let agent: Daemon | null = null
  for (let number = 1; number <= starts; number++) {
    await agent?.stop()
    bareMs.push(await measureBareStart())
    const started = await startOne(t, { coordinator, cache, joinToken, name: `agent-${number}` })
    startsMs.push(started.tookMs)
    agent = started.agent
  }
  report({
    name: 'agent: start to Running, its cache running',
    measured: formatMs(median(startsMs)),
    baseline: `node -e 0 ${formatMs(median(bareMs))}`,
    ratio: median(startsMs) / median(bareMs),
    goal: `<= ${startGoalMs} ms`,
    isMet: median(startsMs) <= startGoalMs,
  })
  if (agent) await measureIdle(agent.pid, linkedBytes, report)
}

interface StartOrder {
  readonly coordinator: CoordinatorProcess
  readonly cache: Varnishd
  readonly joinToken: string
  readonly name: string
}

/** A new agent each time, so that its enrolment is included. Resolves when it has settled. */
async function startOne(
  t: TestEnd,
  { coordinator, cache, joinToken, name }: StartOrder,
): Promise<{ readonly agent: Daemon; readonly tookMs: number }> {
  const stateDir = await makeStateDir(t)
  const coordinatorUrl = coordinator.base.replace(/^http/, 'ws')
  const startedAt = performance.now()
  const agent = startAgent(t, cache, { coordinatorUrl, name, stateDir, joinToken })
  await eventually(`${name} is Running`, async () => {
    const view = await coordinator.api.findAgent(name)
    return view?.stateName === 'Running'
  })
  const tookMs = performance.now() - startedAt
  await eventually(`${name} has applied`, async () => {
    const view = await coordinator.api.findAgent(name)
    return view?.config.effective.revision === view?.config.desired.revision
  })
  return { agent, tookMs }
}

async function measureIdle(pid: number, linkedBytes: number, report: Report): Promise<void> {
  await pause(settleMs)
  const reportMemory = async (when: string, goalBytes: number): Promise<void> => {
    const bytes = await readResidentBytes(pid)
    report({
      name: `agent: RSS ${when}`,
      measured: formatMegabytes(bytes),
      baseline: `node with a link ${formatMegabytes(linkedBytes)}`,
      ratio: bytes / linkedBytes,
      goal: `<= ${formatMegabytes(goalBytes)}`,
      isMet: bytes <= goalBytes,
    })
  }
  await reportMemory('after its start', startedGoalBytes)
  const cpuBeforeMs = await readCpuMs(pid)
  await pause(idleMs)
  await reportMemory('after a minute more', idleGoalBytes)
  const cpuMs = (await readCpuMs(pid)) - cpuBeforeMs
  report({
    name: 'agent: CPU while idle',
    measured: `${((100 * cpuMs) / idleMs).toFixed(2)} % of a core`,
    baseline: null,
    goal: null,
  })
}
