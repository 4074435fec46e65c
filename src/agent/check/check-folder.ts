/**
 * Working directories of private managers, below the system's temporary folder: as root the cache's program drops to its own
 * user, who cannot enter the state dir. The names contain their owner, so that what a killed agent left is removed.
 */
import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Returns the path. */
export async function makeCheckFolder(owner: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefixOf(owner)))
  // The user that the program drops to may enter it; no other user can list it.
  if (process.geteuid?.() === 0) await chmod(folder, 0o711)
  return folder
}

export async function removeCheckFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes the folders of a process that ends at once, such as by Ctrl-C. */
export function removeFoldersAtExit(owner: string): void {
  process.once('exit', () => {
    const prefix = prefixOf(owner)
    for (const name of readdirSync(tmpdir()))
      if (name.startsWith(prefix)) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  })
}

/** Removes the folders of an earlier process of this agent; returns their number. */
export async function removeLeftFolders(owner: string): Promise<number> {
  const left = await listCheckFolders(owner)
  for (const folder of left) await removeCheckFolder(folder)
  return left.length
}

export async function listCheckFolders(owner: string): Promise<readonly string[]> {
  const prefix = prefixOf(owner)
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  return names.map((name) => join(tmpdir(), name))
}

/** @param owner the agent's state dir, which no other agent uses */
function prefixOf(owner: string): string {
  return `cachefleet-check-${createHash('sha256').update(owner).digest('hex').slice(0, 12)}-`
}
