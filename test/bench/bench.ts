/**
 * `npm run bench [-- NAME…]`: measures against the goals, on loopback, with its own processes, which it ends by id. A
 * missed goal is printed and is not a failure: the exit code is nonzero only when a benchmark could not run.
 */
import { availableParallelism, loadavg } from 'node:os'
import type { TestEnd } from '../support/daemon.js'
import { measureAgent } from './agent.js'
import { measureApi } from './api.js'
import { measureAgentsArriving } from './arrival.js'
import { measureBundle } from './bundle.js'
import { measureCertificates, measureCertificatesOfFleet } from './certificates.js'
import { measureChecks } from './checks.js'
import { measureCommandLine } from './command-line.js'
import { measureCoordinators } from './coordinators.js'
import { measureCounters } from './counters.js'
import { measureEngine } from './engine.js'
import { measureEvents } from './events.js'
import { printFigure, type Report } from './figure.js'
import { fleetOf } from './fleet.js'
import { measureInvalidations } from './invalidation.js'
import { measureLists } from './lists.js'
import { measureLog } from './log.js'
import { measureLogin } from './login.js'
import { measureAgentMemory } from './memory.js'
import { measureOverview } from './overview.js'
import { measurePage } from './page.js'
import { measurePageOverview } from './page-overview.js'
import { measurePlacement } from './placement.js'
import { measureRolloutLook } from './rollout-look.js'
import { measureRolloutOfCache, measureRolloutsOfFleet } from './rollouts.js'
import { measureSampling } from './sampling.js'
import { measureStart } from './start.js'
import { measureStatistics } from './statistics.js'
import { measureSwap } from './swap.js'
import { measureTrafficFigures } from './traffic-figures.js'
import { measureWebhooks } from './webhooks.js'

type Benchmark = (t: TestEnd, report: Report) => Promise<void>

const benchmarks: Readonly<Record<string, Benchmark>> = {
  engine: measureEngine,
  api: measureApi,
  events: measureEvents,
  lists: measureLists,
  overview: measureOverview,
  agent: measureAgent,
  login: measureLogin,
  cli: measureCommandLine,
  start: measureStart,
  'fleet-100': fleetOf(100, { overheadMs: 120 }),
  fleet: fleetOf(1_000, { overheadMs: 500, rollbackMs: 400, loopP99Ms: 20 }),
  'fleet-5000': fleetOf(5_000, {}),
  'fleet-10000': fleetOf(10_000, {
    arrivalMs: 20_000,
    idleMegabytes: 450,
    idlePercent: 25,
    overheadMs: 5_000,
    loopP99Ms: 40,
  }),
  memory: measureAgentMemory,
  arrival: measureAgentsArriving,
  coordinators: measureCoordinators,
  webhooks: measureWebhooks,
  invalidations: measureInvalidations,
  swap: measureSwap,
  checks: measureChecks,
  certificates: measureCertificates,
  'certificates-fleet': measureCertificatesOfFleet,
  rollouts: measureRolloutsOfFleet,
  'rollouts-cache': measureRolloutOfCache,
  'rollouts-look': measureRolloutLook,
  placement: measurePlacement,
  statistics: measureStatistics,
  figures: measureTrafficFigures,
  sampling: measureSampling,
  bundle: measureBundle,
  counters: measureCounters,
  log: measureLog,
  page: measurePage,
  'page-overview': measurePageOverview,
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in benchmarks))
if (unknown.length > 0) {
  process.stderr.write(
    `there is no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}\n`,
  )
  process.exit(2)
}
let interrupt: () => void = () => undefined
process.once('SIGINT', () => {
  interrupt()
})
process.once('SIGTERM', () => {
  interrupt()
})
for (const [name, benchmark] of Object.entries(benchmarks))
  if (chosen.length === 0 || chosen.includes(name)) await runBenchmark(name, benchmark)
process.exit()

async function runBenchmark(name: string, benchmark: Benchmark): Promise<void> {
  const endings: (() => Promise<void>)[] = []
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt = () => {
      reject(new Error('interrupted'))
    }
  })
  const [load = 0] = loadavg()
  process.stdout.write(`# ${name} (load ${load.toFixed(1)} on ${availableParallelism()} cores)\n`)
  try {
    const running = benchmark({ teardown: (stop) => endings.push(stop) }, (figure) => {
      process.stdout.write(`${printFigure(figure)}\n`)
    })
    await Promise.race([running, interrupted])
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? describe(error) : String(error)}\n`)
    process.exitCode = 1
  } finally {
    for (const end of endings.toReversed()) await end()
  }
}

function describe(error: Error): string {
  const cause = error.cause instanceof Error ? `\n${error.cause.message}` : ''
  return `${error.stack ?? error.message}${cause}`
}
