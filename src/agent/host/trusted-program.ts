/** Which programs of the host the agent may run: only what nobody else than root or its own user could have put there. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import type { RunningCache } from './running-caches.js'

const othersWrite = 0o002

/** A process may call itself what it likes, so each folder above counts too. Null when there is nobody. Rejects where it is not there. */
export async function findStranger(path: string): Promise<string | null> {
  const trusted = new Set([0, process.geteuid?.() ?? 0])
  for (let at = path; ; at = dirname(at)) {
    const { uid, mode } = await stat(at)
    if (!trusted.has(uid) || (mode & othersWrite) !== 0)
      return `${at} may be changed by others, so ${path} is not run`
    if (at === dirname(at)) return null
  }
}

/** A tool of the cache's own release: it lies beside its program, or in the `bin` beside its `sbin`; else what PATH has. */
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
