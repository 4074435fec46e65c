/** Heap of the coordinator per idle agent: two heap snapshots, without agents and with a thousand, kind by kind. */
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  makeStateDir,
  startCoordinator,
  type CoordinatorProcess,
  type TestEnd,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { formatMegabytes, type Report } from './figure.js'
import { startFleet, untilAllHold, untilAllRun } from './fleet-harness.js'
import { listKinds, type HeapSnapshot } from './heap-kinds.js'
import { readResidentBytes } from './process-reading.js'

const size = 1_000
const maxKinds = 10
/** Time for some samples of each agent. */
const idleMs = 30_000
const snapshotLimitMs = 300_000
const signal = 'SIGUSR2'

export async function measureAgentMemory(t: TestEnd, report: Report): Promise<void> {
  const folder = await makeStateDir(t)
  const coordinator = await startCoordinator(t, {
    environment: { NODE_OPTIONS: `--heapsnapshot-signal=${signal} --diagnostic-dir=${folder}` },
  })
  const { api, base, daemon } = coordinator
  const joinToken = await api.makeJoinToken(size + 2)
  // One agent first, so that shared objects exist and the code is compiled.
  const first = await startFleet(t, { size: 1, joinToken, bases: [base], name: 'first' })
  await untilAllRun(api, first, { size: 1 })
  const before = listKinds(await takeSnapshot(coordinator, folder))
  const bareBytes = await readResidentBytes(daemon.pid)

  const fleet = await startFleet(t, { size: size - 1, joinToken, bases: [base], name: 'fleet' })
  await untilAllRun(api, fleet, { size })
  await untilAllHold(api, fleet)
  await pause(idleMs)
  const residentBytes = await readResidentBytes(daemon.pid)
  const after = listKinds(await takeSnapshot(coordinator, folder))
  const grown = [...after].map(([kind, bytes]) => ({
    kind,
    bytes: bytes - (before.get(kind) ?? 0),
  }))
  const whole = grown.reduce((sum, { bytes }) => sum + bytes, 0)
  report({
    name: 'memory: heap of the coordinator, an idle agent',
    measured: `${Math.round(whole / size)} bytes`,
    baseline: `RSS ${formatMegabytes(residentBytes)}, with one agent ${formatMegabytes(bareBytes)}`,
    goal: null,
  })
  for (const { kind, bytes } of grown.toSorted((a, b) => b.bytes - a.bytes).slice(0, maxKinds))
    report({
      name: `memory: ${kind}, an idle agent`,
      measured: `${Math.round(bytes / size)} bytes`,
      baseline: null,
      goal: null,
    })
}

async function takeSnapshot({ daemon }: CoordinatorProcess, folder: string): Promise<HeapSnapshot> {
  daemon.signal(signal)
  let text = ''
  await eventually(
    'the heap snapshot is complete',
    async () => {
      const [name] = (await readdir(folder)).filter((file) => file.endsWith('.heapsnapshot'))
      if (name === undefined) return false
      const path = join(folder, name)
      if (!(await isWhole(path))) return false
      text = await readFile(path, 'utf8')
      await rm(path)
      return true
    },
    snapshotLimitMs,
  )
  return JSON.parse(text) as HeapSnapshot // as V8 writes it
}

/** The file grows while it is written, and ends with the end of its object. */
async function isWhole(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read({ buffer: Buffer.alloc(8), position: Math.max(0, size - 8) })
    return buffer.toString('latin1').replaceAll('\0', '').trimEnd().endsWith(']}')
  } finally {
    await file.close()
  }
}
