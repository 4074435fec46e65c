/** Reading the API: one agent and a list of 50, beside the same calls without the store. */
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { logIn } from '../support/api-client.js'
import { administrator, type TestEnd } from '../support/daemon.js'
import type { ConstantPayloads, ServerReady } from './api-server.js'
import { compareRates, median, type Report } from './figure.js'
import { readCpuMs } from './process-reading.js'

const rounds = 5
const secondsPerRun = 1
const connections = 10
const leastRatio = 0.6

const { resolve } = createRequire(import.meta.url)
const loadGenerator = resolve('autocannon')
const run = promisify(execFile)

export async function measureApi(t: TestEnd, report: Report): Promise<void> {
  const server = await startServer(t)
  const { call, token } = await logIn(server.base, administrator)
  const read = async (path: string): Promise<unknown> =>
    JSON.parse((await call('GET', path)).text)
  const payloads: ConstantPayloads = {
    one: await read('/agents/500'),
    list: (await read('/agents?take=50')) as unknown[], // a list of the API
  }
  await server.give(payloads)

  const load = (path: string) => generateLoad(server, path, token)
  const calls = [
    { name: 'api: GET one agent', path: '/agents/500', bare: '/constants/500' },
    { name: 'api: GET list of 50 of 1,000', path: '/agents?take=50', bare: '/constants?take=50' },
  ]
  for (const { path, bare } of calls) {
    await load(path) // uncompiled code is not measured
    await load(bare)
  }
  for (const { name, path, bare } of calls) {
    const pairs: { readonly ours: Load; readonly bare: Load }[] = []
    for (let round = 0; round < rounds; round++)
      pairs.push({ bare: await load(bare), ours: await load(path) })
    const wall = pairs.map((pair) => ({ ours: pair.ours.perSecond, bare: pair.bare.perSecond }))
    const baselineName = 'without store'
    report(compareRates({ name, unit: 'requests/s', baselineName, pairs: wall, leastRatio }))
    const ours = median(pairs.map((pair) => pair.ours.cpuMs))
    const without = median(pairs.map((pair) => pair.bare.cpuMs))
    report({
      name: `${name}: CPU`,
      measured: `${ours.toFixed(3)} ms/request`,
      baseline: `${baselineName} ${without.toFixed(3)}`,
      ratio: without / ours,
      goal: null,
    })
  }
}

interface Server {
  readonly pid: number
  readonly base: string
  give(payloads: ConstantPayloads): Promise<void>
}

async function startServer(t: TestEnd): Promise<Server> {
  const program = fileURLToPath(new URL('api-server.ts', import.meta.url))
  const child = fork(program, {
    execArgv: [`--import=${pathToFileURL(resolve('tsx')).href}`],
    stdio: ['ignore', 'ignore', 2, 'ipc'],
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    if (child.connected) child.disconnect()
    await exited
  })
  const { base } = await readMessage(child, exited)
  return {
    pid: child.pid ?? 0,
    base,
    give: async (payloads) => {
      child.send(payloads)
      await readMessage(child, exited)
    },
  }
}

async function readMessage(child: ChildProcess, exited: Promise<unknown>): Promise<ServerReady> {
  const ended = exited.then((): never => {
    throw new Error('the server of the API benchmark ended')
  })
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [ServerReady]
  return message // the only one that api-server.ts sends
}

interface Load {
  readonly perSecond: number
  /** Of the server, a request. */
  readonly cpuMs: number
}

/** What autocannon prints, as far as it is needed here. */
interface LoadReport {
  readonly requests: { readonly total: number }
  readonly duration: number
  readonly non2xx: number
  readonly errors: number
}

/** In a process of its own, so that it shares no event loop with the server or with us. */
async function generateLoad(server: Server, path: string, token: string): Promise<Load> {
  const cpuBeforeMs = await readCpuMs(server.pid)
  const { stdout } = await run(process.execPath, [
    ...[loadGenerator, '--json', '--connections', String(connections)],
    ...['--duration', String(secondsPerRun), '--headers', `authorization=Bearer ${token}`],
    `${server.base}/api/v1${path}`,
  ])
  const { requests, duration, non2xx, errors } = JSON.parse(stdout) as LoadReport
  if (non2xx + errors > 0) throw new Error(`${path}: ${non2xx + errors} calls failed`)
  return {
    perSecond: requests.total / duration,
    cpuMs: ((await readCpuMs(server.pid)) - cpuBeforeMs) / requests.total,
  }
}
