/** The state dir: made where it is missing, entered by its owner only (docs/behaviour.md, State directory). */
import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FleetError } from './errors.js'

const ownerOnly = 0o700

/** What waiting does not heal: a wrong place. A full or broken disk is none of these. */
const wrongPlace: ReadonlySet<unknown> = new Set(
  'EACCES EEXIST ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS'.split(' '),
)

/** Throws FleetError 'invalid' for a folder that cannot be. */
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

/** Not mkdir's own `recursive`, which never ends where the kernel makes no folders (/proc). */
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
