/** Two coordinators over one PostgreSQL and one NATS, with agents spread over them; every call goes to the first. */
import { join } from 'node:path'
import { makeStateDir, startCoordinator, type TestEnd } from '../support/daemon.js'
import { startNats } from '../support/nats.js'
import { startPostgres } from '../support/postgres.js'
import { measureBareDeploy } from './bare-deploy.js'
import { formatMs, quantile, type Report } from './figure.js'
import { timeRollbacks } from './fleet.js'
import {
  compileMs,
  makeFleetGroup,
  readLoopDelay,
  startFleet,
  timeVerb,
  untilAllApplied,
  untilAllHold,
  untilAllRun,
  writeVcl,
} from './fleet-harness.js'
import { readCpuMs } from './process-reading.js'

const size = 1_000
const overheadGoalMs = 1_000
const rollbacks = 10

export async function measureCoordinators(t: TestEnd, report: Report): Promise<void> {
  const bareMs = await measureBareDeploy(t, size)
  const [postgres, nats] = await Promise.all([startPostgres(t), startNats(t)])
  const secretKeyFile = join(await makeStateDir(t), 'secret.key')
  const shared = ['--store', await postgres.url(), '--bus', nats.url]
  const setup = { words: ['--no-agent', ...shared, '--secret-key-file', secretKeyFile] }
  // One after the other: the first creates the tables.
  const pair = [await startCoordinator(t, setup), await startCoordinator(t, setup)] as const
  const [{ api }] = pair
  const bases = pair.map(({ base }) => base)
  const joinToken = await api.makeJoinToken(size + 1)

  const startedAt = performance.now()
  const fleet = await startFleet(t, { size, joinToken, bases, name: 'fleet' })
  await untilAllRun(api, fleet, { size })
  report({
    name: `coordinators: until ${size} new agents are Running`,
    measured: formatMs(performance.now() - startedAt),
    baseline: null,
    goal: null,
  })
  await untilAllHold(api, fleet)
  const group = await makeFleetGroup(api, { tag: 'simulated', max: size })
  const readCpu = () => Promise.all(pair.map(({ daemon }) => readCpuMs(daemon.pid)))
  const measureDeploy = async (name: string): Promise<void> => {
    await Promise.all(bases.map(readLoopDelay))
    const before = await readCpu()
    const overheadMs = (await timeVerb(api, group.id, 'deploy')) - compileMs
    const cpuMs = (await readCpu()).map((after, at) => after - (before[at] ?? 0))
    report({
      name: `coordinators: ${name}, all ${size}, beyond compile`,
      measured: formatMs(overheadMs),
      baseline: `bare ${formatMs(bareMs)}; CPU ${cpuMs.map(formatMs).join(', ')}`,
      ratio: overheadMs / bareMs,
      goal: `<= ${overheadGoalMs} ms`,
      isMet: overheadMs <= overheadGoalMs,
    })
    const delays = await Promise.all(bases.map(readLoopDelay))
    report({
      name: 'coordinators: event loops meanwhile, p99',
      measured: delays.map(({ p99Ms }) => formatMs(p99Ms)).join(', '),
      baseline: `longest ${delays.map(({ longestMs }) => formatMs(longestMs)).join(', ')}`,
      goal: null,
    })
    await untilAllApplied(api, fleet, { id: group.id, size })
  }
  await measureDeploy('deploy')
  await api.editFile(group.fileId, writeVcl('second'))
  await measureDeploy('deploy of a changed source')
  const tookMs = await timeRollbacks(api, group.id, rollbacks)
  report({
    name: `coordinators: rollback, all ${size}, p95 of ${rollbacks}`,
    measured: formatMs(quantile(tookMs, 0.95)),
    baseline: `median ${formatMs(quantile(tookMs, 0.5))}`,
    goal: null,
  })
}
