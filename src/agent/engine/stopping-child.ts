/**
 * Detects a child of the cache that is stopping. From 8.0 on it waits up to 60 s until no worker holds a VCL any more
 * (cache_vcl.c, VCL_Shutdown), and the manager answers nothing until it has ended. Only the child's threads show this: the
 * acceptor, which runs once the child has started, is still there, while the ban lurker has already ended.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Engine } from './engine.js'
import { readPidsOnDisk } from '../apply/inventory.js'
import type { EngineObservation } from './flap-damper.js'

/**
 * Returns undefined when no child is seen stopping; it may be on another host.
 * @param knownPid the child's pid as last reported by the cache; null: unknown, the working directory may have it.
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

/** False for a pid that another process has taken since. */
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

/** Name of a process or thread; empty when it is gone. */
async function readName(folder: string): Promise<string> {
  return (await readFile(`${folder}/comm`, 'utf8').catch(() => '')).trim()
}
