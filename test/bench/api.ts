/** Reading the API: one agent and a list of 50, beside the same calls without the store, while the fleet's heartbeats are written. */
import { logIn } from '../support/api-client.js'
import { administrator, type TestEnd } from '../support/daemon.js'
import { fleetSize, type ConstantPayloads, type ServerReady } from './api-fleet.js'
import { startChild } from './child.js'
import { compareRates, median, type Report } from './figure.js'
import type { LoadOrder, LoadResult } from './load-generator.js'
import { readCpuMs } from './process-reading.js'

const rounds = 6
const seconds = 1
const connections = 10
const leastRatio = 0.6
const leastRatioOfOne = 0.85
const pageSize = 50
const baselineName = 'without store'
/** A call costs at most 1.3 times as much as without authentication. */
const leastRatioOfKnown = 0.77 // 1 / 1.3

interface Contest {
  readonly name: string
  readonly ours: readonly string[]
  readonly bare: readonly string[]
  readonly bareName?: string
  readonly least?: number
}

interface Load {
  readonly perSecond: number
  /** Of the server, per request. */
  readonly cpuMs: number
}

export async function measureApi(t: TestEnd, report: Report): Promise<void> {
  const server = startChild<ConstantPayloads, ServerReady>(t, 'api-server.ts')
  const { base } = await server.receive()
  const api = await logIn(base, administrator)
  const { token } = api
  const read = async (path: string): Promise<unknown> =>
    JSON.parse((await api.call('GET', path)).text)
  await server.ask({
    one: await read('/agents/1'),
    list: (await read(`/agents?take=${pageSize}`)) as unknown[], // a list of the API
  })

  const generator = startChild<LoadOrder, LoadResult>(t, 'load-generator.ts')
  const load = async (paths: readonly string[]): Promise<Load> => {
    const cpuBeforeMs = await readCpuMs(server.pid)
    const done = await generator.ask({ base, token, paths, connections, seconds })
    if (done.failed > 0) throw new Error(`${done.failed} calls of ${paths[0]} … failed`)
    const cpuMs = (await readCpuMs(server.pid)) - cpuBeforeMs
    return { perSecond: done.requests / done.seconds, cpuMs: cpuMs / done.requests }
  }
  const ids = Array.from({ length: fleetSize }, (_, at) => at + 1)
  const pages = ids.filter((id) => id % pageSize === 0).map((id) => id - pageSize)
  await compare(load, report, {
    name: 'api: GET one agent, any of 1,000',
    ours: ids.map((id) => `/agents/${id}`),
    bare: ids.map((id) => `/constants/${id}`),
    least: leastRatioOfOne,
  })
  await compare(load, report, {
    name: 'api: GET with a token, without the store',
    ours: ids.map((id) => `/constants/${id}`),
    bare: ids.map((id) => `/open/${id}`),
    bareName: 'without authentication',
    least: leastRatioOfKnown,
  })
  await compare(load, report, {
    name: 'api: GET a list of 50, the first page',
    ours: [`/agents?take=${pageSize}`],
    bare: [`/constants?take=${pageSize}`],
  })
  await compare(load, report, {
    name: 'api: GET a list of 50, any page of 20',
    ours: pages.map((offset) => `/agents?take=${pageSize},${offset}`),
    bare: pages.map((offset) => `/constants?take=${pageSize},${offset}`),
  })
}

async function compare(
  load: (paths: readonly string[]) => Promise<Load>,
  report: Report,
  { name, ours, bare, bareName = baselineName, least = leastRatio }: Contest,
): Promise<void> {
  await load(bare) // warms up the code before it is measured
  await load(ours)
  const loads: { readonly ours: Load; readonly bare: Load }[] = []
  for (let round = 0; round < rounds; round++)
    loads.push({ bare: await load(bare), ours: await load(ours) })
  const pairs = loads.map((pair) => ({ ours: pair.ours.perSecond, bare: pair.bare.perSecond }))
  report(
    compareRates({ name, unit: 'requests/s', pairs, baselineName: bareName, leastRatio: least }),
  )
  const cpu = {
    ours: median(loads.map((pair) => pair.ours.cpuMs)),
    bare: median(loads.map((pair) => pair.bare.cpuMs)),
  }
  report({
    name: `${name}: CPU`,
    measured: `${cpu.ours.toFixed(3)} ms/request`,
    baseline: `${bareName} ${cpu.bare.toFixed(3)}`,
    ratio: cpu.bare / cpu.ours,
    goal: null,
  })
}
