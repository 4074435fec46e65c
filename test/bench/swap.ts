/** A real cache under constant traffic while a group with a domain is swapped and redeployed on it repeatedly. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type * as VclModule from '../../protocol/commands/vcl.js'
import type * as ConnectionModule from '../../protocol/connection.js'
import { answering } from '../support/observe-cache.js'
import type { ApiClient, Reference } from '../support/api-client.js'
import type { TestEnd } from '../support/daemon.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { enrolCache } from './cache-harness.js'
import { startChild } from './child.js'
import { loadBuilt } from './built.js'
import { formatCount, formatMs, median, quantile, type Report } from './figure.js'
import { timeVerb } from './fleet-harness.js'
import type { TrafficEnd, TrafficOrder, TrafficResult } from './traffic.js'

const swaps = 1_000
const deploys = 100
const probedRollbacks = 20
const rollbackGoalMs = 1_000
const probedGoalMs = 5_000
const site = 'shop.example'
const clients = 2

export async function measureSwap(t: TestEnd, report: Report): Promise<void> {
  // Without a secret, so that the bare commands need no handshake.
  const cache = await startVarnishd(t, { secret: null })
  const bare = await measureBareSwap(cache)
  const { api } = await enrolCache(t, cache)
  const group = await makeSite(api)
  await timeVerb(api, group.id, 'deploy')
  await api.editFile(group.fileId, answering('second'))
  await timeVerb(api, group.id, 'deploy')

  const under = { t, cache, report }
  await underTraffic(under, `${swaps} label swaps`, async () => {
    const tookMs = await repeat(swaps, () => timeVerb(api, group.id, 'rollback'))
    reportRollbacks(report, {
      name: 'swap: rollback, a label swap',
      tookMs,
      goalMs: rollbackGoalMs,
      bareMs: bare.labelMs,
    })
  })
  await underTraffic(under, `${deploys} deploys of a changed source`, async () => {
    const tookMs = await repeat(deploys, async (number) => {
      await api.editFile(group.fileId, answering(`deploy-${number}`))
      return timeVerb(api, group.id, 'deploy')
    })
    report({
      name: 'swap: deploy of a changed source, median',
      measured: formatMs(median(tookMs)),
      baseline: `bare load and label ${formatMs(bare.loadMs)}; p95 ${formatMs(quantile(tookMs, 0.95))}`,
      ratio: median(tookMs) / bare.loadMs,
      goal: null,
    })
  })
  await measureProbed(under, api, group, bare.labelMs)
}

interface BareSwap {
  readonly labelMs: number
  /** A load, the label, and the discard of its previous target. */
  readonly loadMs: number
}

/** The same commands by hand, on the same cache before the agent starts. */
async function measureBareSwap(cache: Varnishd): Promise<BareSwap> {
  const [{ connectManagementPort }, vcl] = await Promise.all([
    loadBuilt<typeof ConnectionModule>('protocol/connection.js'),
    loadBuilt<typeof VclModule>('protocol/commands/vcl.js'),
  ])
  const secret = () => Promise.reject(new Error('the cache asks for no secret'))
  const connection = await connectManagementPort({ host: cache.host, port: cache.port, secret })
  const run = async (...work: readonly (() => Promise<unknown>)[]): Promise<number> => {
    const startedAt = performance.now()
    for (const step of work) await step()
    return performance.now() - startedAt
  }
  const load = (name: string) => () => connection.run(vcl.vclInline(name, answering(name)))
  const label = (name: string) => () => connection.run(vcl.vclLabel('bare', name))
  const discard = (name: string) => () => connection.run(vcl.vclDiscard([name]))
  await run(load('bare-0'), load('bare-1'), label('bare-0'))
  const labelMs = await repeat(100, (at) => run(label(`bare-${(at + 1) % 2}`)))
  await run(label('bare-1'), discard('bare-0'))
  const loadMs = await repeat(10, (at) =>
    run(load(`bare-${at + 2}`), label(`bare-${at + 2}`), discard(`bare-${at + 1}`)),
  )
  await run(discard('bare'), discard('bare-11'))
  connection.close()
  return { labelMs: median(labelMs), loadMs: median(loadMs) }
}

async function repeat(count: number, run: (at: number) => Promise<number>): Promise<number[]> {
  const tookMs: number[] = []
  for (let at = 0; at < count; at++) tookMs.push(await run(at))
  return tookMs
}

interface BenchSite {
  readonly id: number
  readonly fileId: number
}

async function makeSite(api: ApiClient): Promise<BenchSite> {
  const make = async (path: string, body: object): Promise<number> => {
    const { status, text } = await api.call('POST', path, body)
    if (status !== 201) throw new Error(`POST ${path} was answered ${status}: ${text}`)
    return (JSON.parse(text) as Reference).id // all created objects have an id
  }
  const fileId = await api.makeFile('shop.vcl', answering('first'))
  const deployment = await api.makeDeployment('shop', await api.findTag('web'))
  const domain = await make('/domains', { fqdn: site })
  const id = await make('/vclgroups', {
    name: 'shop',
    mainVCL: { id: fileId },
    deployments: [{ id: deployment }],
    domains: [{ id: domain }],
  })
  return { id, fileId }
}

interface Measured {
  readonly t: TestEnd
  readonly cache: Varnishd
  readonly report: Report
}

/** Sends requests to the cache during the work. */
async function underTraffic(
  { t, cache, report }: Measured,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  const { host, httpPort } = cache
  const traffic = startChild<TrafficOrder | TrafficEnd, TrafficResult>(t, 'traffic.ts')
  await traffic.ask({ host, port: httpPort, site, clients })
  await work()
  const { requests, failed, longestMs } = await traffic.ask({ isOver: true })
  report({
    name: `swap: requests that failed during ${what}`,
    measured: String(failed),
    baseline: `of ${formatCount(requests)}, the longest ${formatMs(longestMs)}`,
    goal: '0',
    isMet: failed === 0,
  })
}

function reportRollbacks(
  report: Report,
  {
    name,
    tookMs,
    goalMs,
    bareMs,
  }: { name: string; tookMs: readonly number[]; goalMs: number; bareMs: number },
): void {
  const p95Ms = quantile(tookMs, 0.95)
  report({
    name: `${name}, p95 of ${tookMs.length}`,
    measured: formatMs(p95Ms),
    baseline: `bare vcl.label ${formatMs(bareMs)}; median ${formatMs(median(tookMs))}`,
    ratio: p95Ms / bareMs,
    goal: `<= ${goalMs} ms`,
    isMet: p95Ms <= goalMs,
  })
}

/** The agent switches to a cold VCL only after its probes are healthy. */
async function measureProbed(
  { t, report }: Measured,
  api: ApiClient,
  group: BenchSite,
  bareMs: number,
): Promise<void> {
  const origin = createServer((_, response) => response.end('well')).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  t.teardown(async () => {
    origin.closeAllConnections()
    origin.close()
    await once(origin, 'close')
  })
  const { port } = origin.address() as AddressInfo // the form for TCP servers
  for (const mark of ['probed-first', 'probed-second']) {
    await api.editFile(group.fileId, writeProbed(mark, port))
    await timeVerb(api, group.id, 'deploy')
  }
  const tookMs = await repeat(probedRollbacks, () => timeVerb(api, group.id, 'rollback'))
  const name = 'swap: rollback to a VCL with a probed backend'
  reportRollbacks(report, { name, tookMs, goalMs: probedGoalMs, bareMs })
}

function writeProbed(mark: string, port: number): string {
  return [
    'vcl 4.1;',
    `backend origin { .host = "127.0.0.1"; .port = "${port}"; .probe = { .interval = 1s; } }`,
    `sub vcl_deliver { set resp.http.X-Marker = "${mark}"; }`,
    '',
  ].join('\n')
}
