/** The cost of counters: reading the cache's files against varnishstat, and the CPU of a sampling agent. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type * as MemoryModule from '../../src/agent/counters/shared-memory.js'
import type * as SimulatedModule from '../../src/agent/counters/simulated-counters.js'
import type * as RatesModule from '../../src/agent/counters/counter-rates.js'
import type * as SelectionModule from '../../src/agent/counters/counter-selection.js'
import type { TestEnd } from '../support/daemon.js'
import { startVarnishd } from '../support/varnishd.js'
import { loadBuilt } from './built.js'
import { median, type Report } from './figure.js'
import { runTimed } from './process-reading.js'

const rounds = 15
const readingsPerRound = 200
const leastRatio = 10
/** The default interval (docs/behaviour.md, Statistics). */
const intervalMs = 10_000
const samplingGoalPercent = 1
const fleetSize = 1_000
/** Like a cache of a site with many backends: each VCL has them all. */
const backends = Array.from({ length: 20 }, (_, n) => `backend b${n} { .host = "127.0.0.1"; }\n`)
const director = backends.map((_, n) => `d.add_backend(b${n});`).join(' ')
const vcl = `vcl 4.1;\nimport directors;\n${backends.join('')}sub vcl_init { new d = directors.random(); ${director.replaceAll(');', ', 1);')} }\n`

export async function measureCounters(t: TestEnd, report: Report): Promise<void> {
  const [{ SharedMemory }, { computeRates }, { selectCounters }, { createSimulatedCounters }] =
    await Promise.all([
      loadBuilt<typeof MemoryModule>('src/agent/counters/shared-memory.js'),
      loadBuilt<typeof RatesModule>('src/agent/counters/counter-rates.js'),
      loadBuilt<typeof SelectionModule>('src/agent/counters/counter-selection.js'),
      loadBuilt<typeof SimulatedModule>('src/agent/counters/simulated-counters.js'),
    ])
  const cache = await startVarnishd(t, { vcl })
  const memory = new SharedMemory(cache.workDir, selectCounters())
  const read = () => {
    const reading = memory.read()
    if (!reading) throw new Error('the cache is not read')
    return reading
  }
  const pairs: { readonly ours: number; readonly bare: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    await promisify(execFile)('varnishstat', ['-n', cache.workDir, '-1', '-j'])
    const bare = performance.now() - startedAt
    const readAt = performance.now()
    for (let count = 0; count < readingsPerRound; count++) read()
    pairs.push({ ours: (performance.now() - readAt) / readingsPerRound, bare })
  }
  const ratio = median(pairs.map(({ ours, bare }) => bare / ours))
  report({
    name: `counters: a reading of ${read().values.size}, 20 backends`,
    measured: `${(median(pairs.map(({ ours }) => ours)) * 1000).toFixed(0)} µs`,
    baseline: `varnishstat -1 -j ${(median(pairs.map(({ bare }) => bare)) * 1000).toFixed(0)} µs`,
    ratio,
    goal: `varnishstat >= ${leastRatio} times as long`,
    isMet: ratio >= leastRatio,
  })

  const before = read()
  const [, cpuMs] = runTimed(() => {
    for (let count = 0; count < readingsPerRound; count++)
      JSON.stringify([...computeRates(before, read()).values()])
  })
  reportShare(report, 'counters: CPU of sampling every 10 s', cpuMs / readingsPerRound)

  const simulated = Array.from({ length: fleetSize }, (_, n) =>
    createSimulatedCounters(`edge-${n}`, 0),
  )
  const firsts = await Promise.all(simulated.map((reader) => reader.read()))
  const sampleAll = async () => {
    for (const [index, reader] of simulated.entries()) {
      const now = await reader.read()
      if (now) JSON.stringify([...computeRates(firsts[index] ?? null, now).values()])
    }
  }
  await sampleAll()
  const cpuBefore = process.cpuUsage()
  await sampleAll()
  const { user, system } = process.cpuUsage(cpuBefore)
  reportShare(report, `counters: CPU of ${fleetSize} simulated caches`, (user + system) / 1000)
}

function reportShare(report: Report, name: string, cpuMs: number): void {
  const percent = (100 * cpuMs) / intervalMs
  report({
    name,
    measured: `${percent.toFixed(4)} % of a core`,
    baseline: null,
    goal: `<= ${samplingGoalPercent} %`,
    isMet: percent <= samplingGoalPercent,
  })
}
