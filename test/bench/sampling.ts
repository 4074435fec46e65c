/** Figures sampled from a real cache's log against the truth: its counters, and the responses its client got. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiClient } from '../support/api-client.js'
import { makeStateDir, startAgent, startCoordinator, type TestEnd } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { startVarnishd } from '../support/varnishd.js'
import { startChild } from './child.js'
import type { Report } from './figure.js'
import type { PacedOrder, PacedResult } from './paced-traffic.js'

const perSecond = 1_000
/** Lets the sample follow the rate before the measurement. */
const warmSeconds = 10
const measuredSeconds = 40
/** Until the samples have arrived. */
const settleMs = 10_000
const goal = 0.02
const site = 'site.example'

export async function measureSampling(t: TestEnd, report: Report): Promise<void> {
  const words = ['--no-agent', '--stats-interval', '1']
  const [cache, { api, base }] = await Promise.all([
    startVarnishd(t),
    startCoordinator(t, { words }),
  ])
  const stateDir = await makeStateDir(t)
  const joinToken = await api.makeJoinToken()
  const coordinatorUrl = base.replace('http', 'ws')
  startAgent(t, cache, { coordinatorUrl, name: 'edge', stateDir, joinToken, tags: ['here'] })
  const agent = await eventually('its log can be read', async () => {
    const found = await api.findAgent('edge')
    return found?.capabilities.includes('log') ? found : undefined
  })
  const group = await deploySite(api, await startOrigin(t))

  const load = startChild<PacedOrder, PacedResult>(t, './paced-traffic.ts')
  const { host, httpPort: port } = cache
  const order = { host, port, site, perSecond }
  await load.ask({ ...order, seconds: warmSeconds })
  const begin = Math.ceil(Date.now() / 1000) + 1
  const sent = await load.ask({ ...order, seconds: measuredSeconds })
  const end = Math.floor(Date.now() / 1000)
  await pause(settleMs)
  const figures = ['requests', 'hits', 'misses', 'status_5xx'].map((one) => `GROUP.${group}.${one}`)
  const sums = await sum(api, `/agents/${agent.id}/stats/TOTAL/${begin}/${end}`, [
    ...figures,
    ...['cache_hit', 'cache_miss'],
  ])
  const [requests = 0, hits = 0, misses = 0, errors = 0, hit = 0, miss = 0] = sums
  const rate = Math.round(sent.requests / measuredSeconds)
  compare(report, `hit ratio at ${rate} requests/s`, hits / (hits + misses), hit / (hit + miss))
  compare(
    report,
    `share of 5xx at ${rate} requests/s`,
    errors / requests,
    sent.refused / sent.requests,
  )
}

function compare(report: Report, what: string, sampled: number, truth: number): void {
  const off = Math.abs(sampled - truth)
  report({
    name: `sampling: ${what}`,
    measured: `${(100 * sampled).toFixed(2)} %`,
    baseline: `truth ${(100 * truth).toFixed(2)} %, ${(100 * off).toFixed(2)} % off`,
    goal: `<= ${100 * goal} % off`,
    isMet: off <= goal,
  })
}

async function startOrigin(t: TestEnd): Promise<number> {
  const server = createServer((_, response) => response.end('a page'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port // it listens on a port
}

async function deploySite(api: ApiClient, port: number): Promise<number> {
  const source = `vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv { if (req.url == "/refused") { return (synth(503)); } }
sub vcl_backend_response { set beresp.ttl = 1h; }
`
  const mainFile = await api.makeFile('site.vcl', source)
  const deployment = await api.makeDeployment('site', await api.findTag('here'))
  const group = await api.make('/vclgroups', {
    name: 'site',
    mainVCL: { id: mainFile },
    deployments: [{ id: deployment }],
    domains: [{ id: await api.make('/domains', { fqdn: site }) }],
  })
  const { status, text } = await api.act(group, 'deploy')
  if (status !== 200) throw new Error(`deploy was answered ${status}: ${text}`)
  return group
}

async function sum(api: ApiClient, path: string, counters: readonly string[]): Promise<number[]> {
  const { status, text } = await api.call('GET', `${path}?counters=${counters.join(',')}`)
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`)
  const { stats } = JSON.parse(text) as { stats: { values: { value: number }[] }[] } // series
  return stats.map(({ values }) => values.reduce((total, { value }) => total + value, 0))
}
