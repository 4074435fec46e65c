/** A check of a large VCL beside a serving cache, and a file of tests: their duration, and their effect on the live manager. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type * as ConnectionModule from '../../protocol/connection.js'
import type * as ProcessModule from '../../protocol/commands/process.js'
import type { ApiClient } from '../support/api-client.js'
import { cacheProgram } from '../support/cache-program.js'
import type { Daemon, TestEnd } from '../support/daemon.js'
import { startVarnishd, type Varnishd } from '../support/varnishd.js'
import { enrolCache } from './cache-harness.js'
import { measureRun } from './bare-node.js'
import { loadBuilt } from './built.js'
import { formatMegabytes, formatMs, median, quantile, type Report } from './figure.js'
import { client } from './command-line.js'
import { watchPeak } from './watch-peak.js'

const sizes = [62_000, 229_000]
const rounds = 10
const pingEveryMs = 5
const pingGoalMs = 100
const testGoalMs = 1_500

export async function measureChecks(t: TestEnd, report: Report): Promise<void> {
  // Without a secret, so that the bare connection needs no handshake.
  const cache = await startVarnishd(t, { secret: null })
  const { api, agent } = await enrolCache(t, cache)
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-bench-'))
  t.teardown(() => rm(folder, { recursive: true }))
  // A cache that root starts reads it as another user.
  await chmod(folder, 0o755)
  for (const bytes of sizes) await measureCheck({ cache, agent, api, folder, report }, bytes)
  await measureTestFile(folder, report)
}

interface Checking {
  readonly cache: Varnishd
  readonly agent: Daemon
  readonly api: ApiClient
  readonly folder: string
  readonly report: Report
}

async function measureCheck(checking: Checking, bytes: number): Promise<void> {
  const { cache, api, folder, report } = checking
  const file = join(folder, 'large.vcl')
  const checked: number[] = []
  const bare: number[] = []
  const pinging = startPinging(cache)
  for (let round = 0; round < rounds; round++) {
    // Another text each time, since verdicts are cached.
    const text = writeLarge(bytes, round)
    await writeFile(file, text)
    bare.push(await time(() => compileBare(folder, file)))
    checked.push(await time(() => check(api, text)))
  }
  const pings = await pinging.end()
  const kilobytes = Math.round(bytes / 1000)
  report({
    name: `checks: a VCL of ${kilobytes} kB, from the call to its answer`,
    measured: formatMs(median(checked)),
    baseline: `varnishd -C without a C compiler ${formatMs(median(bare))}`,
    ratio: median(checked) / median(bare),
    goal: null,
  })
  const longest = Math.max(...pings)
  report({
    name: `checks: ping of the live manager meanwhile, longest of ${pings.length}`,
    measured: formatMs(longest),
    baseline: `median ${formatMs(median(pings))}, p99 ${formatMs(quantile(pings, 0.99))}`,
    goal: `<= ${pingGoalMs} ms`,
    isMet: longest <= pingGoalMs,
  })
  await measureMemory(checking, bytes)
}

/** Measured separately from the times, as watching takes time itself. */
async function measureMemory(
  { agent, api, folder, report }: Checking,
  bytes: number,
): Promise<void> {
  const file = join(folder, 'large.vcl')
  const text = writeLarge(bytes, rounds)
  await writeFile(file, text)
  const program = cacheProgram.daemon
  let bare: number | null = null
  const alone = await watchPeak(
    () => bare,
    program,
    () =>
      compileBare(folder, file, {
        started: (pid) => {
          bare = pid
        },
      }),
  )
  const checked = await watchPeak(
    () => agent.pid,
    program,
    () => check(api, text),
  )
  report({
    name: 'checks: its memory, most of a process',
    measured: formatMegabytes(checked),
    baseline: `varnishd -C ${formatMegabytes(alone)}`,
    ratio: checked / alone,
    goal: null,
  })
}

async function check(api: ApiClient, source: string): Promise<void> {
  const body = { mainVCL: { name: 'large.vcl', source } }
  const { status, text } = await api.call('POST', '/files/compile', body)
  if (status !== 200) throw new Error(`a check was answered ${status}: ${text.slice(0, 500)}`)
}

function startPinging({ host, port }: Varnishd) {
  const ending = new AbortController()
  const pings: number[] = []
  const running = (async () => {
    const [{ connectManagementPort }, { ping }] = await Promise.all([
      loadBuilt<typeof ConnectionModule>('protocol/connection.js'),
      loadBuilt<typeof ProcessModule>('protocol/commands/process.js'),
    ])
    const secret = () => Promise.reject(new Error('the cache asks for no secret'))
    const connection = await connectManagementPort({ host, port, secret })
    while (!ending.signal.aborted) {
      pings.push(await time(() => connection.run(ping())))
      await pause(pingEveryMs)
    }
    connection.close()
  })()
  return {
    end: async () => {
      ending.abort()
      await running
      return pings
    },
  }
}

/** In addition to compiling the same VCL. */
async function measureTestFile(folder: string, report: Report): Promise<void> {
  await writeFile(join(folder, 'site.vcl'), site)
  const file = join(folder, 'ten.test.yaml')
  await writeFile(file, [...head, ...Array<string>(10).fill(step), ''].join('\n'))
  const took: number[] = []
  const compile: number[] = []
  for (let round = 0; round < rounds; round++) {
    compile.push(await time(() => compileBare(folder, join(folder, 'site.vcl'), { words: [] })))
    took.push(await measureRun([client, 'test', file]))
  }
  const beyond = median(took) - median(compile)
  report({
    name: 'checks: a test file of ten steps, beyond the compile',
    measured: formatMs(beyond),
    baseline: `varnishd -C ${formatMs(median(compile))}`,
    goal: `<= ${formatMs(testGoalMs)}`,
    isMet: beyond <= testGoalMs,
  })
}

const withoutCompiler = ['-p', 'cc_command=exec true']

interface Bare {
  readonly words?: readonly string[]
  readonly started?: (pid: number) => void
}

/** Without a compiler it ends with an error, as there is no library to open. */
async function compileBare(
  folder: string,
  file: string,
  { words = withoutCompiler, started }: Bare = {},
): Promise<void> {
  const given = ['-C', ...words, '-n', join(folder, 'bare'), '-f', file]
  await new Promise<void>((resolve, reject) => {
    const child = execFile(
      cacheProgram.daemon,
      given,
      { maxBuffer: 64 << 20 },
      (error, _, told) => {
        if (error === null || told.includes('dlopen failed')) resolve()
        else reject(new Error(told))
      },
    )
    if (child.pid !== undefined) started?.(child.pid)
  })
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const site = [
  'vcl 4.1;',
  'backend origin { .host = "192.0.2.1"; }',
  'sub vcl_backend_response { set beresp.ttl = 1m; }',
  '',
].join('\n')
const head = ['vcl: site.vcl', 'backends: { origin: [{ respond: { status: 200 } }] }', 'steps:']
const step = '  - { request: { url: / }, expect: { status: 200 } }'

function writeLarge(bytes: number, round: number): string {
  const lines = ['vcl 4.1;', 'backend origin { .host = "192.0.2.1"; }', 'sub vcl_recv {']
  for (let size = 0, at = 0; size < bytes; at++) {
    const line = `  if (req.url == "/old/${round}/${at}") { return (synth(301, "/new/${at}")); }`
    lines.push(line)
    size += line.length + 1
  }
  return [...lines, '}', ''].join('\n')
}
