/** Which programs of the host the agent may run: only those that nobody but root or its own user can replace. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import type { RunningCache } from './running-caches.js'

const othersWrite = 0o002

/** Checks each parent folder too, since a process may choose its name. Null if there is no such user. Rejects if it does not exist. */
export async function findStranger(path: string): Promise<string | null> {
  const trusted = new Set([0, process.geteuid?.() ?? 0])
  for (let at = path; ; at = dirname(at)) {
    const { uid, mode } = await stat(at)
    if (!trusted.has(uid) || (mode & othersWrite) !== 0)
      return `${at} may be changed by others, so ${path} is not run`
    if (at === dirname(at)) return null
  }
}

/** Finds a tool of the cache's own release: beside its program, or in the `bin` beside its `sbin`; else by PATH. */
export async function findCacheTool(
  cache: Pick<RunningCache, 'program'> | null,
  tool: string,
): Promise<string> {
  if (cache === null || !isAbsolute(cache.program)) return tool
  const folder = dirname(cache.program)
  for (const path of [join(folder, tool), join(folder, '../bin', tool)]) {
    const real = await realpath(path).catch(() => null)
    if (real !== null && (await findStranger(real)) === null) return path
  }
  return tool
}
