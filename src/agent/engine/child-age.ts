/**
 * Since when a cache can hold objects: the start of its child, if all its storage is lost with the child. Objects from before
 * that need no removal (docs/behaviour.md, Delivery).
 */
import { readFile } from 'node:fs/promises'
import { storageList } from '../../../protocol/commands/process.js'
import type { Context } from '../../context.js'
import type { Engine } from './engine.js'
import { readProcesses } from '../apply/inventory.js'

/** Storage that starts empty; `file` may be persistent storage of other software. */
const volatileKinds = new Set(['malloc', 'default', 'umem'])
/** Tolerance for different clocks and for the time between reading them. */
const marginMs = 1000
/** On Linux, for all architectures (sysconf(_SC_CLK_TCK)). */
const ticksPerSecond = 100

/** Milliseconds since 1970; null if not certain. Rejects with ManagementPortError. */
export async function findEmptySince(
  engine: Engine,
  context: Context,
  now: () => number,
): Promise<number | null> {
  if (!engine.isOfThisHost) return null
  const { masterPid, workerPid } = await readProcesses(engine, context)
  if (masterPid === null || workerPid === null) return null
  const ageMs = await readChildAge(masterPid, workerPid)
  if (ageMs === null) return null
  const stores = await engine.run(context, storageList())
  const isVolatile = stores.length > 0 && stores.every(({ kind }) => volatileKinds.has(kind))
  return isVolatile ? now() - ageMs - marginMs : null
}

/** Null when that process is not the manager's child as seen from this host: it may be in another namespace. */
async function readChildAge(masterPid: number, workerPid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/${workerPid}/stat`, 'latin1')
    // proc(5): after the name in parentheses come the state (3), the parent (4) and, as field 22, the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[1]) !== masterPid || !stat.includes('(cache-main)')) return null
    const upSeconds = Number((await readFile('/proc/uptime', 'latin1')).split(' ')[0])
    const ageMs = (upSeconds - Number(fields[19]) / ticksPerSecond) * 1000
    return Number.isFinite(ageMs) && ageMs >= 0 ? ageMs : null
  } catch {
    return null
  }
}
