/** The agent's `boot.cli` where the tested cache can open it. */
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasQuirk } from '../../protocol/quirks.js'
import { readRelease } from './cache-program.js'
import type { TestEnd } from './varnishd.js'

/** Started by root, some releases open it as a user who may not enter the agent's folder. */
export const isBootFileClosed =
  process.geteuid?.() === 0 && hasQuirk(readRelease().version, 'opensBootFileAsUser')

/** Returns the file, or a world-readable copy, as the drop-in of those releases makes one for that user. */
export async function openBootFile(t: TestEnd, file: string): Promise<string> {
  if (!isBootFileClosed) return file
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-boot-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const copy = join(folder, 'boot.cli')
  await copyFile(file, copy)
  await chmod(copy, 0o644)
  return copy
}
