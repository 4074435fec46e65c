/**
 * The archive's statistics of known traffic through two real caches, for a cache and for their group: across restarts of the cache,
 * the agent and the coordinator.
 */
import t, { type Test } from 'tap'
import { startTraffic } from '../agent/counters/cache-traffic.js'
import { listVcls } from '../support/observe-cache.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type CoordinatorProcess,
  type Daemon,
} from '../support/daemon.js'
import { parallel } from '../support/parallel.js'
import { heard, listen } from '../support/event-client.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { agentTag, expectDone, startCoordinators, ways } from './harness.js'

const intervalSeconds = 1
/** Rows of 1, 2, 3 and 5 intervals. */
const archives = 4
const coarsestSeconds = 5

// The tests mostly wait for samples.
t.jobs = 2

/** A cache with its agent. */
interface Edge {
  readonly id: number
  readonly cache: Varnishd
  agent: Daemon
  startAgent(): void
}

interface Harness {
  /** The one that the agents connect to. */
  readonly coordinator: CoordinatorProcess
  /** Another coordinator, or the same if there is only one. */
  readonly other: CoordinatorProcess
  readonly groupId: number
  readonly west: Edge
  readonly east: Edge
  /** Seconds since 1970, before the first request. */
  readonly begin: number
  readonly send: (cache: Varnishd, paths: number, times: number) => Promise<void>
}

async function startHarness(t: Test, coordinators: 1 | 2): Promise<Harness> {
  // Long, so that a slow link is not closed: samples that the agent could not send would be missing.
  const words = ['--no-agent', '--heartbeat', '30', '--stats-interval', String(intervalSeconds)]
  words.push('--stats-archives', String(archives))
  const [traffic, [coordinator, other = coordinator]] = await Promise.all([
    startTraffic(t),
    coordinators === 2
      ? startCoordinators(t, words)
      : startCoordinator(t, { words }).then((one) => [one] as const),
  ])
  const begin = Math.floor(Date.now() / 1000)
  const [west, east] = await Promise.all([
    startEdge(t, coordinator, { name: 'west', vcl: traffic.vcl }),
    startEdge(t, coordinator, { name: 'east', vcl: traffic.vcl }),
  ])
  const groupId = await deployOnBoth(coordinator, traffic.vcl)
  const harness = { coordinator, other, groupId, west, east, begin, send: traffic.send }
  await Promise.all([west, east].map((edge) => untilServing(harness, edge)))
  return harness
}

async function startEdge(
  t: Test,
  { base, api }: CoordinatorProcess,
  { name, vcl }: { readonly name: string; readonly vcl: string },
): Promise<Edge> {
  const [cache, stateDir] = await Promise.all([startVarnishd(t, { vcl }), makeStateDir(t)])
  const coordinatorUrl = base.replace('http', 'ws')
  const launch = (joinToken?: string): Daemon =>
    startAgent(t, cache, {
      coordinatorUrl,
      name,
      stateDir,
      tags: [agentTag],
      ...(joinToken === undefined ? {} : { joinToken }),
    })
  const agent = launch(await api.makeJoinToken())
  const { id } = await eventually(`${name} is known`, () => api.findAgent(name))
  const edge: Edge = {
    id,
    cache,
    agent,
    startAgent: () => {
      edge.agent = launch()
    },
  }
  return edge
}

async function deployOnBoth({ api }: CoordinatorProcess, vcl: string): Promise<number> {
  const mainFile = await api.makeFile('site.vcl', vcl)
  const limits = { min: 2, max: 2 }
  const deployment = await api.makeDeployment('all', await api.findTag(agentTag), limits)
  const groupId = await api.makeGroup({ name: 'site', mainFile, deployment })
  await eventually('the group is deployed on both', async () => {
    expectDone(await api.act(groupId, 'deploy'))
    return true
  })
  return groupId
}

/** Waits until the VCL of the group is loaded, and the start VCL is not. */
async function untilServing({ groupId }: Harness, { cache }: Edge): Promise<void> {
  await eventually('the cache has the VCL of its group', async () => {
    const names = await listVcls(cache)
    return names.some((name) => name.startsWith(`cf-${groupId}-`)) && !names.includes('boot')
  })
}

interface Point {
  readonly time: number
  readonly value: number
}

const ofCache = ({ id }: Edge): string => `/agents/${id}`
const ofGroup = ({ groupId }: Harness): string => `/vclgroups/${groupId}`

async function get({ coordinator }: Harness, path: string): Promise<unknown> {
  const { status, text } = await coordinator.api.call('GET', path)
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  return JSON.parse(text)
}

async function readCounters(
  harness: Harness,
  subject: string,
  asked: { readonly consolidation: string; readonly counters: readonly string[] },
): Promise<readonly (readonly Point[])[]> {
  const end = Math.ceil(Date.now() / 1000) + 1
  const path = `${subject}/stats/${asked.consolidation}/${harness.begin}/${end}?counters=${asked.counters.join(',')}`
  return ((await get(harness, path)) as { stats: { values: Point[] }[] }).stats.map(
    ({ values }) => values,
  )
}

/** The series of client_req. */
async function readRequests(
  harness: Harness,
  subject: string,
  consolidation: string,
): Promise<readonly Point[]> {
  const [points = []] = await readCounters(harness, subject, {
    consolidation,
    counters: ['client_req'],
  })
  return points
}

function sum(points: readonly Point[] = []): number {
  return points.reduce((total, { value }) => total + value, 0)
}

/** Waits for two readings of the same process of the cache, so that later requests are counted after them. */
async function untilSampled(harness: Harness, edge: Edge): Promise<void> {
  const now = Math.ceil(Date.now() / 1000)
  await eventually('current samples exist', async () =>
    (await readRequests(harness, ofCache(edge), 'LAST')).some(
      ({ time }) => time > now + intervalSeconds,
    ),
  )
}

async function countCommits({ coordinator }: Harness): Promise<number> {
  const text = await (await fetch(`${coordinator.base}/metrics`)).text()
  return Number(/cachefleet_stats_write_seconds_count (\d+)/.exec(text)?.[1] ?? 0)
}

/** The requests sent since the beginning. */
interface Sent {
  readonly hits: number
  readonly misses: number
}

const add = (a: Sent, b: Sent): Sent => ({ hits: a.hits + b.hits, misses: a.misses + b.misses })

async function send(
  harness: Harness,
  { cache }: Edge,
  paths: number,
  times: number,
): Promise<Sent> {
  await harness.send(cache, paths, times)
  return { hits: paths * (times - 1), misses: paths }
}

/** Rates within 5 %, the hit ratio within 1 %. */
async function untilCounted(harness: Harness, subject: string, sent: Sent): Promise<void> {
  const counters = ['client_req', 'cache_hit', 'cache_miss']
  const requests = sent.hits + sent.misses
  await eventually(`${requests} requests of ${subject} are counted`, async () => {
    const answer = await readCounters(harness, subject, { consolidation: 'TOTAL', counters })
    const [counted = 0, hits = 0, misses = 0] = answer.map(sum)
    const ratio = hits / (hits + misses)
    if (Math.abs(counted - requests) > 0.05 * requests) throw new Error(`counted ${counted}`)
    if (Math.abs(ratio - sent.hits / requests) > 0.01) throw new Error(`hit ratio ${ratio}`)
    return true
  })
}

/** Throws if an earlier row is missing or has changed. */
function expectKept(before: readonly Point[], after: readonly Point[]): void {
  const found = new Map(after.map(({ time, value }) => [time, value]))
  const lost = before.filter(({ time, value }) => found.get(time) !== value)
  if (lost.length > 0) throw new Error(`rows are not as they were: ${JSON.stringify(lost)}`)
}

for (const [way, coordinators] of ways)
  void t.test(`statistics ${way}`, parallel(), async (t) => {
    const harness = await startHarness(t, coordinators)
    const { coordinator, west, east } = harness
    const subjects = [ofCache(west), ofCache(east), ofGroup(harness)]
    await Promise.all([untilSampled(harness, west), untilSampled(harness, east)])
    let ofWest: Sent = { hits: 0, misses: 0 }
    let ofEast = ofWest
    const untilAllCounted = () =>
      Promise.all(
        [ofWest, ofEast, add(ofWest, ofEast)].map((sent, at) =>
          untilCounted(harness, subjects[at] ?? '', sent),
        ),
      )

    await t.test('requests, hits and misses are counted as sent', async () => {
      ofWest = await send(harness, west, 10, 20)
      ofEast = await send(harness, east, 20, 5)
      await untilAllCounted()
    })

    await t.test('a subscriber of any coordinator gets live samples of a cache', async (t) => {
      const { base, api } = harness.other
      const query = `?live=${west.id}`
      const looking = await listen(t, base, { token: api.token, query })
      const { data } = await heard(looking, 'sample', { agent: { id: west.id, name: 'west' } })
      t.ok('MAIN.client_req' in Object(data['values']))
      looking.close()
    })

    await t.test('a killed coordinator keeps committed samples, and continues', async () => {
      const readAll = () =>
        Promise.all([west, east].map((edge) => readRequests(harness, ofCache(edge), 'TOTAL')))
      const before = await readAll()
      const commits = await countCommits(harness)
      await eventually(
        'all samples are committed',
        async () => (await countCommits(harness)) >= commits + 2,
      )
      await coordinator.daemon.kill()
      await coordinator.start()
      const after = await readAll()
      for (const [at, points] of before.entries()) expectKept(points, after[at] ?? [])
      await Promise.all([untilSampled(harness, west), untilSampled(harness, east)])
      ofEast = add(ofEast, await send(harness, east, 10, 10))
      await untilAllCounted()
    })

    await t.test('restarts of a cache and its agent cause no jump and no loss', async (t) => {
      const before = await readRequests(harness, ofCache(west), 'TOTAL')
      await west.cache.restart()
      await untilServing(harness, west)
      await untilSampled(harness, west)
      await west.agent.stop()
      west.startAgent()
      await untilSampled(harness, west)
      ofWest = add(ofWest, await send(harness, west, 5, 20))
      await untilAllCounted()
      expectKept(before, await readRequests(harness, ofCache(west), 'TOTAL'))
      const { hits, misses } = add(ofWest, ofEast)
      for (const subject of subjects) {
        const rates = await readRequests(harness, subject, 'MAX')
        // Over at least half a second.
        t.ok(
          rates.every(({ value }) => value >= 0 && value <= 2 * (hits + misses)),
          `${subject}: no rate is above all that was sent`,
        )
      }
    })

    await t.test('the coarsest archive holds the same requests', async (t) => {
      const { hits, misses } = add(ofWest, ofEast)
      // Rows that end in the future are not complete yet.
      const end = Math.ceil(Date.now() / 1000) + 600
      const path = `${ofGroup(harness)}/graph/avghitratio/TOTAL/${harness.begin - 100_000}/${end}`
      const rows = await eventually('its rows are complete', async () => {
        const { avghitratio } = (await get(harness, path)) as {
          avghitratio: { client_req: number; time: number }[]
        }
        const total = avghitratio.reduce((count, { client_req }) => count + client_req, 0)
        if (Math.abs(total - hits - misses) > 0.05 * (hits + misses))
          throw new Error(`counted ${total}`)
        return avghitratio
      })
      t.ok(rows.every(({ time }) => time % coarsestSeconds === 0))
    })
  })
