/** What the cache holds and its process ids, read anew each time. */
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../context.js'
import type { EngineInventory } from '../../vcl/engine-inventory.js'
import type { Engine } from '../engine/engine.js'

export interface EngineProcesses {
  /** Null if unknown: the release has no `pid`, and its working directory cannot be read. */
  readonly masterPid: number | null
  /** Null while the child is not running, or if unknown. */
  readonly workerPid: number | null
  /** Number of the connection on which the ids were read. */
  readonly connection: number
}

/** Rejects with ManagementPortError: `garbled` when the child did not answer, since the list is then empty and wrong. */
export async function readInventory(engine: Engine, context: Context): Promise<EngineInventory> {
  const state = await engine.run(context, engine.reading.childStatus())
  const rows = await engine.run(context, engine.reading.vclList())
  return {
    childRunning: state === 'running',
    isReleasing: rows.some((row) => row.status === 'discarded'),
    vcls: rows
      .filter((row) => row.status !== 'discarded')
      .map((row) => ({
        name: row.name,
        active: row.status === 'active',
        labelOf: row.label?.target ?? null,
      })),
  }
}

/** Uses `pid`; releases 6.0 to 6.0.6 and 6.1 to 6.3 lack it, so there the working directory is read. */
export async function readProcesses(engine: Engine, context: Context): Promise<EngineProcesses> {
  const { connections: connection } = engine
  if (engine.capabilities.hasCommand('pid')) {
    const ids = await engine.run(context, engine.reading.processIds())
    return { masterPid: ids.master, workerPid: ids.worker, connection }
  }
  const folder = engine.workingDirectory
  const pids = folder === null ? noPids : await readPidsOnDisk(folder)
  return { ...pids, connection }
}

const noPids = { masterPid: null, workerPid: null }

/** Reads a cache's working directory; null for a file that does not exist or may not be read. */
export async function readPidsOnDisk(
  folder: string,
): Promise<Pick<EngineProcesses, 'masterPid' | 'workerPid'>> {
  const [masterPid = null, workerPid = null] = await Promise.all(
    [managerIndex, childIndex].map((index) => readIndexPid(join(folder, index))),
  )
  return { masterPid, workerPid }
}

/** Indexes of both processes' shared memory, in the working directory from 6.0 on. */
const managerIndex = '_.vsm_mgt/_.index'
const childIndex = '_.vsm_child/_.index'

/** The first line is `# <pid> <start>` (common_vsmw.c, vsmw_newindex); null if the file is missing or may not be read. */
async function readIndexPid(path: string): Promise<number | null> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0)
      const pid = /^# (\d+) \d+\n/.exec(buffer.toString('latin1', 0, bytesRead))?.[1]
      return pid === undefined ? null : Number(pid)
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}
