/**
 * A child of the cache that is on its way out. From 8.0 on it waits for up to 60 s until no worker holds a VCL any more
 * (cache_vcl.c, VCL_Shutdown), and the manager answers nothing until it has ended. Only the child's threads show that: it accepts
 * connections still, as it does from the end of its start on, and the thread that lurks for bans has ended already.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Engine } from './engine.js'
import { readPidsOnDisk } from '../apply/inventory.js'
import type { EngineObservation } from './flap-damper.js'

/**
 * Undefined: no child is seen to stop; it may be on another host.
 * @param knownPid of the child when the cache last reported it; null: unknown, then the working directory may have it.
 */
export async function findStoppingChild(
  engine: Pick<Engine, 'isOfThisHost' | 'workingDirectory'>,
  knownPid: number | null,
): Promise<EngineObservation | undefined> {
  if (!engine.isOfThisHost) return undefined
  const pid = knownPid ?? (await readPidOnDisk(engine.workingDirectory))
  if (pid === null || !(await isChildStopping(pid))) return undefined
  const engineError = `the child process of the cache (${pid}) is stopping: it waits, for up to 60 s, until its clients' connections end, and the cache answers nothing meanwhile`
  return { engineState: 'stopped', engineError }
}

async function readPidOnDisk(folder: string | null): Promise<number | null> {
  return folder === null ? null : (await readPidsOnDisk(folder)).workerPid
}

/** An id that was given to another process since is not a child's. */
export async function isChildStopping(pid: number): Promise<boolean> {
  const folder = `/proc/${pid}`
  if ((await readName(folder)) !== 'cache-main') return false
  const tasks = await readdir(`${folder}/task`).catch(() => [])
  const names = await Promise.all(tasks.map((task) => readName(`${folder}/task/${task}`)))
  return names.includes('cache-acceptor') && !names.includes('ban-lurker')
}

export async function isChildThere(pid: number): Promise<boolean> {
  return (await readName(`/proc/${pid}`)) === 'cache-main'
}

/** Of a process or thread; empty when it is gone. */
async function readName(folder: string): Promise<string> {
  return (await readFile(`${folder}/comm`, 'utf8').catch(() => '')).trim()
}
