/** Figures of groups and domains from a fleet of simulated caches: their CPU cost for the coordinator. */
import { setTimeout as pause } from 'node:timers/promises'
import { startCoordinator, type CoordinatorProcess, type TestEnd } from '../support/daemon.js'
import { formatMs, type Report } from './figure.js'
import { startFleet, timeVerb, untilAllApplied, untilAllRun, writeVcl } from './fleet-harness.js'
import { readCpuMs } from './process-reading.js'

const size = 1_000
const domains = 50
/** Time for three samples of each cache. */
const measuredMs = 30_000
/** Until each cache has sent its figures once. */
const settleMs = 25_000
const goalShare = 0.1

export async function measureTrafficFigures(t: TestEnd, report: Report): Promise<void> {
  const coordinator = await startCoordinator(t)
  const { api, base } = coordinator
  const joinToken = await api.makeJoinToken(size + 1)
  const fleet = await startFleet(t, { size, joinToken, bases: [base], name: 'fleet' })
  await untilAllRun(api, fleet, { size })
  await pause(settleMs)
  const without = await measureShare(coordinator)

  const mainFile = await api.makeFile('site.vcl', writeVcl('first'))
  const tag = await api.findTag('simulated')
  const deployment = await api.makeDeployment('site', tag, { min: 1, max: size })
  const ids: number[] = []
  for (let number = 1; number <= domains; number++)
    ids.push(await api.make('/domains', { fqdn: `site-${number}.example.com` }))
  const group = await api.make('/vclgroups', {
    name: 'site',
    mainVCL: { id: mainFile },
    deployments: [{ id: deployment }],
    domains: ids.map((id) => ({ id })),
  })
  await timeVerb(api, group, 'deploy')
  await untilAllApplied(api, fleet, { id: group, size })
  await pause(settleMs)
  const writing = await readWriting(base)
  const share = await measureShare(coordinator)
  const written = await readWriting(base)
  const each = (written.seconds - writing.seconds) / Math.max(1, written.commits - writing.commits)
  report({
    name: `figures: CPU of the coordinator, ${size} agents with ${domains} domains each`,
    measured: formatShare(share),
    baseline: `without figures ${formatShare(without)}`,
    ratio: share / without,
    goal: `<= ${formatShare(goalShare)}`,
    isMet: share <= goalShare,
  })
  report({
    name: 'figures: a commit of the archive',
    measured: formatMs(each * 1000),
    baseline: `${written.commits - writing.commits} of them in ${formatMs(measuredMs)}`,
    goal: null,
  })
}

/** Of a core. */
async function measureShare({ daemon }: CoordinatorProcess): Promise<number> {
  const before = await readCpuMs(daemon.pid)
  const startedAt = performance.now()
  await pause(measuredMs)
  const tookMs = performance.now() - startedAt
  return ((await readCpuMs(daemon.pid)) - before) / tookMs
}

async function readWriting(base: string) {
  const text = await (await fetch(`${base}/metrics`)).text()
  const read = (name: string): number =>
    Number(new RegExp(`^cachefleet_stats_write_seconds_${name} (\\S+)`, 'm').exec(text)?.[1] ?? 0)
  return { seconds: read('sum'), commits: read('count') }
}

function formatShare(share: number): string {
  return `${(100 * share).toFixed(1)} % of a core`
}
