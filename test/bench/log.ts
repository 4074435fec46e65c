/**
 * The cost of reading the log of a busy cache: figures of groups and domains, always on, and a live log that matches one request in
 * a hundred (docs/behaviour.md, Live log).
 */
import { readdir, readFile } from 'node:fs/promises'
import { readStreamEvents } from '../../src/cli/event-stream.js'
import { answering } from '../support/observe-cache.js'
import type { ApiClient } from '../support/api-client.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type Daemon,
  type TestEnd,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { startChild, type Child } from './child.js'
import { formatCount, formatMs, median, quantile, type Pair, type Report } from './figure.js'
import { readCpuMs } from './process-reading.js'
import { markedPath, type RawTrafficOrder, type RawTrafficResult } from './raw-traffic.js'

const perSecond = 10_000
const seconds = 10
/** The sample follows the rate of the previous interval (docs/behaviour.md, Statistics), with another run of the tool. */
const settlingSeconds = 25
const pairsOfThroughput = 3
const goals = { ourPercent: 1, toolPercent: 3, delayMs: 500, leastRatio: 0.98 }

interface Bench {
  readonly cache: Varnishd
  readonly api: ApiClient
  readonly base: string
  readonly traffic: Child<RawTrafficOrder, RawTrafficResult>
  /** Beside the cache, with these further arguments. */
  readonly runAgent: (words: readonly string[]) => Promise<Daemon>
}

export async function measureLog(t: TestEnd, report: Report): Promise<void> {
  const bench = await startBench(t)
  const none = ['--sample-rate', '0']
  const first = await bench.runAgent(none)
  await deploySite(bench.api)
  const without = await measureCpu(bench, first)
  await first.stop()

  const sampling = await bench.runAgent([])
  await eventually('figures are read', async () => (await findTools(sampling.pid)).length > 0)
  await send(bench, settlingSeconds)
  const withFigures = await measureCpu(bench, sampling)
  reportCpu(report, {
    name: 'log: CPU of the agent for figures',
    percent: withFigures.ours - without.ours,
    most: goals.ourPercent,
    perSecond: withFigures.perSecond,
  })
  reportCpu(report, {
    name: "log: CPU of the cache's tool for figures",
    percent: withFigures.tools,
    most: goals.toolPercent,
    perSecond: withFigures.perSecond,
  })
  await reportDelay(bench, report)
  await sampling.stop()
  await compareThroughput(bench, report, none)
}

async function startBench(t: TestEnd): Promise<Bench> {
  const cache = await startVarnishd(t, { vcl: answering('start') })
  const { api, base } = await startCoordinator(t, { words: ['--no-agent'] })
  const stateDir = await makeStateDir(t)
  const joinToken = await api.makeJoinToken()
  const traffic = startChild<RawTrafficOrder, RawTrafficResult>(t, 'raw-traffic.ts')
  const runAgent = async (words: readonly string[]): Promise<Daemon> => {
    const agent = startAgent(t, cache, {
      coordinatorUrl: base.replace(/^http/, 'ws'),
      name: 'edge',
      tags: ['web'],
      stateDir,
      joinToken,
      words,
    })
    await eventually('the agent is Running and reads the log', async () => {
      const view = await api.findAgent('edge')
      return view?.stateName === 'Running' && view.capabilities.includes('log')
    })
    return agent
  }
  return { cache, api, base, traffic, runAgent }
}

async function deploySite(api: ApiClient): Promise<void> {
  const mainFile = await api.makeFile('shop.vcl', answering('shop'))
  const deployment = await api.makeDeployment('web', await api.findTag('web'))
  const group = await api.makeGroup({ name: 'shop', mainFile, deployment })
  await api.act(group, 'deploy', '?wait=300s')
}

function send({ cache, traffic }: Bench, forSeconds: number, rate: number | null = perSecond) {
  const { host, httpPort: port } = cache
  return traffic.ask({ host, port, perSecond: rate, seconds: forSeconds })
}

interface Cpu {
  readonly ours: number
  readonly tools: number
  readonly perSecond: number
}

/** In percent of a core, under traffic. */
async function measureCpu(bench: Bench, daemon: Daemon): Promise<Cpu> {
  const { pid } = daemon
  const runs = await findTools(pid)
  const read = async () => {
    const tools = await Promise.all(runs.map((run) => readCpuMs(run)))
    return { ours: await readCpuMs(pid), tools: tools.reduce((sum, one) => sum + one, 0) }
  }
  const before = await read()
  const startedAt = performance.now()
  const { perSecond: answered } = await send(bench, seconds)
  const after = await read().catch(() => null)
  // The tool was restarted, with another sample or after it fell behind: its CPU time is unknown.
  if (after === null) return measureCpu(bench, daemon)
  const percent = 100 / (performance.now() - startedAt)
  return {
    ours: (after.ours - before.ours) * percent,
    tools: (after.tools - before.tools) * percent,
    perSecond: answered,
  }
}

interface CpuFigure {
  readonly name: string
  readonly percent: number
  readonly most: number
  readonly perSecond: number
}

function reportCpu(report: Report, { name, percent, most, perSecond: answered }: CpuFigure): void {
  report({
    name,
    measured: `${percent.toFixed(2)} % of a core`,
    baseline: `at ${formatCount(answered)} requests/s`,
    goal: `<= ${most} %`,
    isMet: percent <= most,
  })
}

/** From the request to the reader of the log. */
async function reportDelay(bench: Bench, report: Report): Promise<void> {
  const ending = new AbortController()
  const query = encodeURIComponent(`ReqURL ~ "^${markedPath}"`)
  const answer = await fetch(`${bench.base}/api/v1/logs?q=${query}&limit=1000&fields=url`, {
    headers: { authorization: `Bearer ${bench.api.token}` },
    signal: ending.signal,
  })
  const delaysMs: number[] = []
  const reading = readDelays(answer, delaysMs).catch(() => undefined) // ended below
  await eventually('the live log is read', async () => {
    await send(bench, 1)
    return delaysMs.length > 0
  })
  delaysMs.length = 0
  await send(bench, seconds)
  ending.abort()
  await reading
  const p95Ms = quantile(delaysMs, 0.95)
  report({
    name: `log: request to reader, one of 100, p95 of ${formatCount(delaysMs.length)}`,
    measured: formatMs(p95Ms),
    baseline: `median ${formatMs(median(delaysMs))}`,
    goal: `<= ${goals.delayMs} ms`,
    isMet: p95Ms <= goals.delayMs,
  })
}

async function readDelays({ body }: Response, delaysMs: number[]): Promise<void> {
  if (body === null) return
  const texts = body.pipeThrough(new TextDecoderStream())
  for await (const { event, data } of readStreamEvents(texts, '')) {
    const url = event === 'transaction' ? /"url":"\/marked\/(\d+)"/.exec(data)?.[1] : undefined
    if (url !== undefined) delaysMs.push(Date.now() - Number(url))
  }
}

/** At the cache's maximum rate, with and without figures, one right after the other. */
async function compareThroughput(
  bench: Bench,
  report: Report,
  none: readonly string[],
): Promise<void> {
  const measure = async (words: readonly string[]): Promise<number> => {
    const agent = await bench.runAgent(words)
    await send(bench, 2, null)
    const { perSecond: answered } = await send(bench, seconds / 2, null)
    await agent.stop()
    return answered
  }
  const pairs: Pair[] = []
  for (let pair = 0; pair < pairsOfThroughput; pair++)
    pairs.push({ ours: await measure([]), bare: await measure(none) })
  const ratio = median(pairs.map(({ ours, bare }) => ours / bare))
  report({
    name: 'log: requests a second of the cache with figures',
    measured: formatCount(median(pairs.map(({ ours }) => ours))),
    baseline: `without ${formatCount(median(pairs.map(({ bare }) => bare)))}`,
    ratio,
    goal: `ratio >= ${goals.leastRatio}`,
    isMet: ratio >= goals.leastRatio,
  })
}

/** Children of this process that read a log. */
async function findTools(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      return new RegExp(`ncsa\\) \\S ${parent} `).test(text) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}
