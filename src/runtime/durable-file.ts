/** Files of the agent. After a kill or a power cut during a write, either the old or the new file is there, complete. */
import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const privateMode = 0o600

/**
 * Mode 0600 by default: VCL may hold secrets. The folder must exist. When it fails, it rejects with the file system's error and
 * leaves no draft behind.
 */
export async function writeDurably(
  path: string,
  content: string | Buffer,
  mode = privateMode,
): Promise<void> {
  const draft = draftOf(path)
  try {
    await writeWhole(draft, content, mode)
    await rename(draft, path)
  } catch (error) {
    // A partial draft would keep a full disk full.
    await rm(draft, { force: true }).catch(() => undefined)
    throw isFull(error) ? new Error(`no space left in ${dirname(path)}`, { cause: error }) : error
  }
  await syncFolder(dirname(path))
}

/** The temporary file of a write; an interrupted write may leave it behind. */
export function draftOf(path: string): string {
  return `${path}.new`
}

/** Null when the file does not exist. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function isFull(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  )
}

export async function writeWhole(
  draft: string,
  content: string | Buffer,
  mode = privateMode,
): Promise<void> {
  const file = await open(draft, 'w', privateMode)
  try {
    // A draft left behind would keep its old mode.
    await file.chmod(mode)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Creates a folder that only its owner can enter (docs/behaviour.md, State directory). */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/** Removes the oldest matching files, by name, so that at most `limit` remain. */
export async function limitFiles(folder: string, pattern: RegExp, limit: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => pattern.test(name)).toSorted()
  const surplus = names.slice(0, Math.max(0, names.length - limit))
  await Promise.all(surplus.map((name) => rm(join(folder, name), { force: true })))
}

/** Without this a power cut may lose the new name. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
