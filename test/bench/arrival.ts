/** Agents that arrive together where a group waits for them: they enrol, are placed, load and switch. */
import { startCoordinator, type TestEnd } from '../support/daemon.js'
import { formatMs, type Report } from './figure.js'
import {
  makeFleetGroup,
  readLoopDelay,
  startFleet,
  timeVerb,
  untilAllApplied,
  untilAllHold,
  untilAllRun,
} from './fleet-harness.js'
import { readCpuMs } from './process-reading.js'

const arriving = 500
const goalMs = 2_500

export async function measureAgentsArriving(t: TestEnd, report: Report): Promise<void> {
  const { api, base, daemon } = await startCoordinator(t)
  const joinToken = await api.makeJoinToken(2 * arriving + 10)
  const bare = await timeArrival(async () => {
    const fleet = await startFleet(t, { size: arriving, joinToken, bases: [base], name: 'bare' })
    await untilAllRun(api, fleet, { size: arriving })
    await untilAllHold(api, fleet)
    return fleet
  })
  await bare.result.kill()

  const wanted = { joinToken, bases: [base], tag: 'wanted' }
  // One agent already holds the group, and all others follow it.
  const first = await startFleet(t, { ...wanted, size: 1, name: 'first' })
  await untilAllRun(api, first, { size: 1, tag: 'wanted' })
  const group = await makeFleetGroup(api, { tag: 'wanted', max: arriving + 1 })
  await timeVerb(api, group.id, 'deploy')
  await readLoopDelay(base)
  const cpuBeforeMs = await readCpuMs(daemon.pid)
  const { tookMs } = await timeArrival(async () => {
    const fleet = await startFleet(t, { ...wanted, size: arriving, name: 'others' })
    await untilAllApplied(api, fleet, { id: group.id, size: arriving + 1 })
    return fleet
  })
  report({
    name: `arrival: until ${arriving} new agents serve a group`,
    measured: formatMs(tookMs),
    baseline: `without a group ${formatMs(bare.tookMs)}; coordinator's CPU ${formatMs((await readCpuMs(daemon.pid)) - cpuBeforeMs)}`,
    ratio: tookMs / bare.tookMs,
    goal: `<= ${goalMs} ms`,
    isMet: tookMs <= goalMs,
  })
  const delay = await readLoopDelay(base)
  report({
    name: "arrival: coordinator's event loop meanwhile, p99",
    measured: formatMs(delay.p99Ms),
    baseline: `longest ${formatMs(delay.longestMs)}`,
    goal: null,
  })
}

async function timeArrival<Result>(
  arrive: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly tookMs: number }> {
  const startedAt = performance.now()
  const result = await arrive()
  return { result, tookMs: performance.now() - startedAt }
}
