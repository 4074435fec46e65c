/** A coordinator with a private cache, as with `npm start`: from its start until it is ready, on an existing store, and idle. */
import { setTimeout as pause } from 'node:timers/promises'
import { makeStateDir, startDaemon, type TestEnd } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { measureBareMemory, measureBareStart } from './bare-node.js'
import { formatMegabytes, formatMs, median, type Report } from './figure.js'
import { readCpuMs, readResidentBytes } from './process-reading.js'

const starts = 7
const startGoalMs = 500
const memoryGoalBytes = 110e6
/** Until V8 has returned the memory of the start. */
const idleMs = 60_000

export async function measureStart(t: TestEnd, report: Report): Promise<void> {
  const bareBytes = await measureBareMemory(t)
  const stateDir = await makeStateDir(t)
  const start = () => startReady(t, stateDir)
  await (await start()).daemon.stop() // creates the store
  const readyMs: number[] = []
  const cpuMs: number[] = []
  const bareMs: number[] = []
  for (let number = 1; number <= starts; number++) {
    bareMs.push(await measureBareStart())
    const started = await start()
    readyMs.push(started.tookMs)
    cpuMs.push(await readCpuMs(started.daemon.pid))
    await started.daemon.stop()
  }
  report({
    name: 'start: coordinator from exec to ready',
    measured: formatMs(median(readyMs)),
    baseline: `node -e 0 ${formatMs(median(bareMs))}`,
    ratio: median(readyMs) / median(bareMs),
    goal: `<= ${startGoalMs} ms`,
    isMet: median(readyMs) <= startGoalMs,
  })
  report({
    name: 'start: CPU until it is ready',
    measured: formatMs(median(cpuMs)),
    baseline: null,
    goal: null,
  })
  const { daemon } = await start()
  await pause(idleMs)
  const bytes = await readResidentBytes(daemon.pid)
  report({
    name: 'start: RSS of an idle coordinator after a minute',
    measured: formatMegabytes(bytes),
    baseline: `empty node ${formatMegabytes(bareBytes)}`,
    ratio: bytes / bareBytes,
    goal: `<= ${formatMegabytes(memoryGoalBytes)}`,
    isMet: bytes <= memoryGoalBytes,
  })
}

async function startReady(t: TestEnd, stateDir: string) {
  const startedAt = performance.now()
  const words = ['--coordinator', '--state-dir', stateDir, '--listen', '127.0.0.1:0']
  const daemon = startDaemon(t, words)
  await eventually('it is ready', () =>
    daemon.lines().some(({ msg }) => msg === 'coordinator is ready'),
  )
  return { daemon, tookMs: performance.now() - startedAt }
}
