/**
 * The archive of statistics: writing a tick of a fleet to all archives, against plain `rrdtool update` with the same
 * archives and functions; its effect on the API's thread; and reading a month of one counter.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { stepsPerRow } from '../../src/coordinator/statistics/archive/archives.js'
import { defaultCounters } from '../../src/resources/counters.js'
import type * as LocalModule from '../../src/coordinator/statistics/store/local-archive.js'
import type * as StartModule from '../../src/coordinator/statistics/store/start-archive.js'
import type { StatisticsArchive } from '../../src/coordinator/statistics/store/statistics-archive.js'
import type { TestEnd } from '../support/daemon.js'
import { loadBuilt } from './built.js'
import { formatCount, formatMegabytes, formatMs, median, type Report } from './figure.js'

const caches = 1_000
const counters = 40
const stepMs = 10_000
const rows = 600
/** A file of rrdtool has 12 MB, and updates are sequential: a tenth of the fleet is measured, and multiplied by ten. */
const rrdFiles = 100
const ticks = 30
const functions = ['AVERAGE', 'MIN', 'MAX', 'LAST']
const names = defaultCounters.slice(0, counters).map(({ name }) => name)
const begin = Math.floor(Date.UTC(2026, 0, 1) / stepMs) * stepMs

export async function measureStatistics(t: TestEnd, report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-bench-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [{ startArchive }, { planArchive }] = await Promise.all([
    loadBuilt<typeof StartModule>('src/coordinator/statistics/store/start-archive.js'),
    loadBuilt<typeof LocalModule>('src/coordinator/statistics/store/local-archive.js'),
  ])
  const open = (file: string): Promise<StatisticsArchive> =>
    startArchive({
      url: `sqlite:${join(folder, file)}`,
      // Commits on request only.
      options: { ...planArchive(stepMs), commitEveryMs: 3_600_000 },
      events: { wrote: () => undefined, warn: () => undefined },
    })
  const fleet = await open('fleet.db')
  await measureTicks(fleet, startRrdtool(folder), report)
  await fleet.close()
  const one = await open('one.db')
  await measureMonth(one, report)
  await one.close()
  report({
    name: `statistics: on disk, a cache of ${counters} counters after a month`,
    measured: formatMegabytes((await stat(join(folder, 'one.db'))).size),
    baseline: `rrdtool ${formatMegabytes((await stat(join(folder, '0.rrd'))).size)}`,
    goal: null,
  })
}

async function measureTicks(
  archive: StatisticsArchive,
  rrdtool: Rrdtool,
  report: Report,
): Promise<void> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let tick = 1; tick <= 2; tick++) await recordTick(archive, tick)
  const delays: number[] = []
  const idle: number[] = []
  for (let tick = 3; tick < 3 + ticks; tick++) {
    const startedAt = performance.now()
    delays.push(await measureDelay(recordTick(archive, tick)))
    ours.push(performance.now() - startedAt)
    idle.push(await measureDelay(setTimeout(ours.at(-1))))
    theirs.push((await rrdtool.update(tick)) * (caches / rrdFiles))
  }
  await rrdtool.end()
  const ratio = median(ours.map((tookMs, at) => tookMs / (theirs[at] ?? Number.NaN)))
  report({
    name: `statistics: ${formatCount(caches)} caches x ${counters} counters a tick, all archives, on disk`,
    measured: formatMs(median(ours)),
    baseline: `rrdtool update ${formatMs(median(theirs))} (${rrdFiles} files x ${caches / rrdFiles})`,
    ratio,
    goal: 'ratio <= 1',
    isMet: ratio <= 1,
  })
  report({
    name: 'statistics: event-loop delay p99 of the API meanwhile',
    measured: formatMs(median(delays)),
    baseline: `idle ${formatMs(median(idle))}`,
    goal: '<= 20 ms',
    isMet: median(delays) <= 20,
  })
}

/** 99th percentile in milliseconds. */
async function measureDelay(work: Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work
  delay.disable()
  return delay.percentile(99) / 1e6
}

/** Each cache's sample is recorded separately, as from its link. */
async function recordTick(archive: StatisticsArchive, tick: number): Promise<void> {
  for (let agentId = 1; agentId <= caches; agentId++)
    archive.record({
      agentId,
      // Phases like those of agents.
      at: begin + tick * stepMs + ((agentId * 7) % stepMs),
      spanMs: stepMs,
      names,
      values: names.map((_, column) => ((agentId + column) * tick) % 997),
    })
  await archive.commit()
}

async function measureMonth(archive: StatisticsArchive, report: Report): Promise<void> {
  const agentId = caches + 1
  const days = 30
  const steps = (days * 86_400_000) / stepMs
  for (let step = 1; step <= steps; step++) {
    archive.record({
      agentId,
      at: begin + step * stepMs,
      spanMs: stepMs,
      names,
      values: names.map((_, column) => (column * step) % 997),
    })
    if (step % 300 === 0) await archive.commit()
  }
  await archive.commit()
  const endMs = begin + steps * stepMs
  const took: number[] = []
  let points = 0
  for (let round = 0; round < 30; round++) {
    const startedAt = performance.now()
    const { series } = await archive.readSeries({
      caches: [{ agentId, hidden: null }],
      names: [names[round % counters] ?? ''],
      consolidation: 'AVERAGE',
      startMs: begin,
      endMs,
      nowMs: endMs,
    })
    took.push(performance.now() - startedAt)
    points = series[0]?.values.length ?? 0
  }
  report({
    name: `statistics: a month of one counter, ${points} points`,
    measured: formatMs(median(took)),
    baseline: null,
    goal: '<= 20 ms',
    isMet: median(took) <= 20,
  })
}

interface Rrdtool {
  /** Returns its duration in milliseconds. */
  update(tick: number): Promise<number>
  end(): Promise<void>
}

function startRrdtool(folder: string): Rrdtool {
  const archives = functions.flatMap((name) =>
    stepsPerRow.map((steps) => `RRA:${name}:0.5:${steps}:${rows}`),
  )
  const sources = names.map((_, at) => `DS:c${at}:GAUGE:${(2 * stepMs) / 1000}:0:U`)
  const start = String(begin / 1000 - 10)
  const fileOf = (index: number): string => join(folder, `${index}.rrd`)
  for (let index = 0; index < rrdFiles; index++)
    execFileSync('rrdtool', [
      ...['create', fileOf(index), '--start', start, '--step', String(stepMs / 1000)],
      ...sources,
      ...archives,
    ])
  const program = spawn('rrdtool', ['-'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]()
  return {
    update: async (tick) => {
      const startedAt = performance.now()
      for (let index = 0; index < rrdFiles; index++) {
        const values = names.map((_, column) => ((index + column) * tick) % 997)
        program.stdin.write(
          `update ${fileOf(index)} ${begin / 1000 + tick * 10 + (index % 10)}:${values.join(':')}\n`,
        )
      }
      for (let answered = 0; answered < rrdFiles;) {
        const line = await lines.next()
        if (line.done === true) throw new Error('rrdtool ended')
        if (line.value.startsWith('ERROR')) throw new Error(line.value)
        if (line.value.startsWith('OK')) answered += 1
      }
      return performance.now() - startedAt
    },
    end: async () => {
      program.stdin.end()
      await once(program, 'exit')
    },
  }
}
