/** The state directory: created if missing, accessible only to its owner (docs/behaviour.md, State directory). */
import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FleetError } from './errors.js'

const ownerOnly = 0o700

/** Errors of a wrong path, which a retry cannot fix. A full or broken disk is not one of these. */
const wrongPlace: ReadonlySet<unknown> = new Set(
  'EACCES EEXIST ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS'.split(' '),
)

/** Throws FleetError 'invalid' for a folder that cannot be used. */
export async function openStateDir(folder: string): Promise<void> {
  try {
    await makeFolder(folder)
    await chmod(folder, ownerOnly)
  } catch (cause) {
    if (!(cause instanceof Error) || !wrongPlace.has(readCode(cause))) throw cause
    const message = `stateDir: ${folder} cannot be used: ${cause.message}; right would be a folder of this user (--state-dir)`
    throw new FleetError('invalid', 'store', message, { cause })
  }
}

/** Not mkdir's `recursive`, which never ends where the kernel creates no folders (/proc). */
async function makeFolder(folder: string): Promise<void> {
  try {
    await makeOne(folder)
  } catch (error) {
    const parent = dirname(folder)
    if (readCode(error) !== 'ENOENT' || parent === folder) throw error
    await makeFolder(parent)
    await makeOne(folder)
  }
}

async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder, ownerOnly)
  } catch (error) {
    const isThere = (await stat(folder).catch(() => null))?.isDirectory() ?? false
    if (!isThere) throw error
  }
}

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
