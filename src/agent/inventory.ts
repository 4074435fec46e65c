/** What the cache holds and which processes it is, read anew each time. */
import { ManagementPortError } from '../../protocol/errors.js'
import type { Context } from '../context.js'
import type { EngineInventory } from '../domain/engine-inventory.js'
import type { Engine } from './engine.js'

export interface EngineProcesses {
  readonly masterPid: number
  /** Null while the child does not run. */
  readonly workerPid: number | null
}

/** Rejects with ManagementPortError; `garbled` when the child did not answer: then the list is empty, and wrong. */
export async function readInventory(engine: Engine, context: Context): Promise<EngineInventory> {
  const state = await engine.run(context, engine.reading.childStatus())
  const rows = await engine.run(context, engine.reading.vclList())
  return {
    childRunning: state === 'running',
    vcls: rows
      .filter((row) => row.status !== 'discarded')
      .map((row) => ({
        name: row.name,
        active: row.status === 'active',
        labelOf: row.label?.target ?? null,
      })),
  }
}

/** Null on a release that has no such command (before 6.0.7): there a new process is not told from the old one. */
export async function readProcesses(
  engine: Engine,
  context: Context,
): Promise<EngineProcesses | null> {
  try {
    const ids = await engine.run(context, engine.reading.processIds())
    return { masterPid: ids.master, workerPid: ids.worker }
  } catch (error) {
    if (error instanceof ManagementPortError && error.kind === 'rejected' && error.status === 101)
      return null
    throw error
  }
}
