/** The work of a coordinator once a second while a rollout on ten thousand agents bakes, and how long it blocks others meanwhile. */
import { setImmediate as servedOthers } from 'node:timers/promises'
import { pino } from 'pino'
import { seeRollout } from '../../src/coordinator/rollouts/see-rollout.js'
import type { StateService } from '../../src/coordinator/service.js'
import { openStore } from '../../src/coordinator/store/open-store.js'
import type { TestEnd } from '../support/daemon.js'
import { fillFleet } from '../support/fill-fleet.js'
import { formatMs, median, type Report } from './figure.js'
import { makeLargeRollout } from './large-rollout.js'

const rounds = 10
const stepGoalMs = 20

export async function measureRolloutLook(t: TestEnd, report: Report): Promise<void> {
  const store = await openStore('sqlite::memory:', pino({ level: 'silent' }))
  t.teardown(() => store.close())
  await fillFleet(store.queries)
  const { rollout, observations } = await makeLargeRollout(store.queries)
  const webhooks = { ask: () => undefined, read: () => [], close: () => Promise.resolve() }
  const service = { store, now: () => Date.now() } as unknown as StateService // used parts
  const took: number[] = []
  const longest: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { cpuMs, stepMs } = await measureSteps(() =>
      seeRollout(service, rollout, { observations, webhooks }),
    )
    took.push(cpuMs)
    longest.push(stepMs)
  }
  report({
    name: 'rollouts: one look at 10000 agents, longest step',
    measured: formatMs(median(longest)),
    baseline: `all of its CPU ${formatMs(median(took))}`,
    goal: `<= ${stepGoalMs} ms`,
    isMet: median(longest) <= stepGoalMs,
  })
}

/** CPU time, which other load hardly affects. */
async function measureSteps(work: () => Promise<unknown>) {
  const state = { isDone: false }
  const startedMs = readCpuMs()
  let [stepMs, lastMs] = [0, startedMs]
  const working = work().finally(() => (state.isDone = true))
  while (!state.isDone) {
    await servedOthers()
    const nowMs = readCpuMs()
    stepMs = Math.max(stepMs, nowMs - lastMs)
    lastMs = nowMs
  }
  await working
  return { cpuMs: readCpuMs() - startedMs, stepMs }
}

function readCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
