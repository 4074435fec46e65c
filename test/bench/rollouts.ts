/** Rollouts: how quickly all agents are rolled back, what waves cost against a plain deploy, and the CPU of observing on a real cache. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Rollout } from '../../src/resources/rollout.js'
import { answering, fetchMark } from '../support/observe-cache.js'
import type { ApiClient } from '../support/api-client.js'
import { startCoordinator, type TestEnd } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import { enrolCache } from './cache-harness.js'
import { formatMs, median, quantile, type Report } from './figure.js'
import {
  makeFleetGroup,
  startFleet,
  untilAllApplied,
  untilAllRun,
  writeVcl,
  type FleetGroup,
} from './fleet-harness.js'
import { readCpuMs } from './process-reading.js'

const size = 1_000
const rounds = 10
const fleetGoalMs = 1_000
const cacheGoalMs = 100
const overheadGoal = 0.3
const observedGoal = 0.01
const observedMs = 20_000
const timeoutMs = 120_000

/** All agents switch at once, and bake until aborted. */
const baking = { waves: [{ percent: 100 }], bake: 3600 }
const wavesAlone = { waves: [{ count: 1 }, { percent: 10 }, { percent: 50 }], bake: 0 }

export async function measureRolloutsOfFleet(t: TestEnd, report: Report): Promise<void> {
  const { api, base } = await startCoordinator(t)
  const joinToken = await api.makeJoinToken(size + 1)
  const fleet = await startFleet(t, { size, joinToken, bases: [base], name: 'fleet' })
  await untilAllRun(api, fleet, { size })
  const group = await makeFleetGroup(api, { tag: 'simulated', max: size })
  await deploy(api, group, 'first', null)
  await untilAllApplied(api, fleet, { id: group.id, size })

  const tookMs: number[] = []
  for (let round = 0; round < rounds; round += 1)
    tookMs.push(await timeReturn(api, group, writeVcl(`bad-${round}`)))
  const worst = quantile(tookMs, 0.95)
  report({
    name: `rollouts: from the decision until ${size} agents are back, p95`,
    measured: formatMs(worst),
    baseline: `median ${formatMs(median(tookMs))}`,
    goal: `<= ${formatMs(fleetGoalMs)}`,
    isMet: worst <= fleetGoalMs,
  })
  await measureOverhead(api, group, report)
}

/** A plain deploy and one in waves right after each other, repeated. */
async function measureOverhead(api: ApiClient, group: FleetGroup, report: Report): Promise<void> {
  const [plain, inWaves]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds / 2; round += 1) {
    plain.push(await deploy(api, group, `plain-${round}`, null))
    inWaves.push(await deploy(api, group, `waves-${round}`, wavesAlone))
  }
  const ratio = median(inWaves.map((ms, at) => ms / (plain[at] ?? Number.NaN)))
  report({
    name: `rollouts: a deploy of ${size} agents in four waves that do not bake`,
    measured: formatMs(median(inWaves)),
    baseline: `at once ${formatMs(median(plain))}`,
    ratio,
    goal: `<= ${1 + overheadGoal}`,
    isMet: ratio <= 1 + overheadGoal,
  })
}

export async function measureRolloutOfCache(t: TestEnd, report: Report): Promise<void> {
  const cache = await startVarnishd(t, { vcl: answering('foreign') })
  const { api, agent } = await enrolCache(t, cache)
  const group = await makeFleetGroup(api, { tag: 'web', max: 1 })
  await api.editFile(group.fileId, answering('good'))
  await deploy(api, group, null, null)
  const tookMs: number[] = []
  for (let round = 0; round < rounds; round += 1)
    tookMs.push(await timeReturn(api, group, answering(`bad-${round}`)))
  const worst = quantile(tookMs, 0.95)
  report({
    name: 'rollouts: from the decision until a real cache is back, p95',
    measured: formatMs(worst),
    baseline: `median ${formatMs(median(tookMs))}`,
    goal: `<= ${formatMs(cacheGoalMs)}`,
    isMet: worst <= cacheGoalMs,
  })

  const idle = await measureShare(agent.pid, () => fetchMark(cache))
  await begin(api, group, answering('watched'))
  const observing = await measureShare(agent.pid, () => fetchMark(cache))
  report({
    name: 'rollouts: CPU of the agent for observing',
    measured: formatShare(observing - idle),
    baseline: `without a rollout ${formatShare(idle)}`,
    goal: `<= ${formatShare(observedGoal)}`,
    isMet: observing - idle <= observedGoal,
  })
}

/** Under a light load: requests to the cache cost the log tool CPU, not the agent. */
async function measureShare(pid: number, ask: () => Promise<unknown>): Promise<number> {
  await pause(2_000)
  const before = await readCpuMs(pid)
  const startedAt = performance.now()
  while (performance.now() - startedAt < observedMs) await Promise.all([ask(), pause(5)])
  return ((await readCpuMs(pid)) - before) / (performance.now() - startedAt)
}

/** `word` null: keeps the file's text. Returns the duration. */
async function deploy(
  api: ApiClient,
  { id, fileId }: FleetGroup,
  word: string | null,
  rollout: object | null,
): Promise<number> {
  if (word !== null) await api.editFile(fileId, writeVcl(word))
  const startedAt = performance.now()
  const path = `/vclgroups/${id}/deploy?wait=300s`
  const { status, text } = await api.call('PUT', path, { rollout })
  if (status !== 200) throw new Error(`a deploy was answered ${status}: ${text.slice(0, 500)}`)
  return performance.now() - startedAt
}

/** Returns the path of the rollout once its wave bakes. */
async function begin(api: ApiClient, { id, fileId }: FleetGroup, source: string): Promise<string> {
  await api.editFile(fileId, source)
  const { body } = await api.call('PUT', `/vclgroups/${id}/deploy?wait=0`, { rollout: baking })
  const path = `/rollouts/${(body['rollout'] as { id: number }).id}` // as documented
  await eventually(
    'all have switched',
    async () => (await read(api, path)).stateName === 'Baking',
    timeoutMs,
  )
  return path
}

/** By the coordinator's own times: of the decision, and of knowing that all are back. */
async function timeReturn(api: ApiClient, group: FleetGroup, source: string): Promise<number> {
  const path = await begin(api, group, source)
  await api.call('PUT', `${path}/abort`)
  const ended = await eventually(
    'all are back',
    async () => {
      const rollout = await read(api, path)
      return rollout.stateName === 'Aborted' ? rollout : undefined
    },
    timeoutMs,
  )
  return Date.parse(ended.endedAt ?? '') - Date.parse(ended.waves[0]?.endedAt ?? '')
}

async function read(api: ApiClient, path: string): Promise<Rollout> {
  const { body } = await api.call('GET', path)
  return body as unknown as Rollout // as documented
}

function formatShare(share: number): string {
  return `${(100 * share).toFixed(2)} % of a core`
}
