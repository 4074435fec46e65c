/** Reads files of the folder that `apply` was given: only plain files inside it, up to size limits. */
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { usageError } from '../cli-error.js'

/** Documents and sources combined. */
const maxFiles = 2_000
/** Base64 expands this to about the 10 MiB that a request body may have (docs/behaviour.md, Calls). */
const fileLimitBytes = 7 * 1024 * 1024
const folderLimitBytes = 64 * 1024 * 1024

export interface Folder {
  /** The folder's own name, which is the default name of the set. */
  readonly name: string
  /** File names of its documents, sorted. */
  readonly documents: readonly string[]
  /** `path` is relative to the folder. Throws an Error with the reason. */
  readFile(path: string): Promise<Buffer>
  /** Names of the plain files in this subfolder, sorted. Throws an Error with the reason. */
  list(path: string): Promise<readonly string[]>
}

/** Throws CliError (usage) if the path is not a folder or contains no documents. */
export async function openFolder(path: string): Promise<Folder> {
  const status = await stat(path).catch(() => undefined)
  if (status?.isDirectory() !== true)
    throw usageError(`-f: ${path} is not a folder that can be read`)
  const root = await realpath(path)
  const entries = await readdir(root, { withFileTypes: true })
  const documents = entries
    .filter((entry) => !entry.isDirectory() && isDocument(entry.name))
    .map(({ name }) => name)
    .toSorted()
  if (documents.length === 0)
    throw usageError(`-f: ${path} holds no documents; they end in .yaml, .yml or .json`)
  const read = { files: 0, bytes: 0 }
  return {
    name: basename(resolve(path)),
    documents,
    readFile: async (wanted) => {
      if (++read.files > maxFiles) throw new Error(`there are more than ${maxFiles} files`)
      const bytes = await readInside(root, wanted)
      read.bytes += bytes.length
      if (read.bytes > folderLimitBytes)
        throw new Error(`the files are more than ${folderLimitBytes} bytes together`)
      return bytes
    },
    list: (wanted) => listInside(root, wanted),
  }
}

/** VCL test files are excluded; documents refer to them by name. */
function isDocument(name: string): boolean {
  return /^[^.].*\.(ya?ml|json)$/i.test(name) && !/\.test\.[a-z]+$/i.test(name)
}

/** Symbolic links are listed too; reading one checks its target. */
async function listInside(root: string, path: string): Promise<readonly string[]> {
  const given = join(root, path)
  requireInside(root, given)
  const real = await realpath(given).catch(() => undefined)
  const status = real === undefined ? undefined : await stat(real)
  if (real === undefined || status?.isDirectory() !== true) throw new Error('no such folder')
  requireInside(root, real)
  const entries = await readdir(real, { withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .toSorted()
}

async function readInside(root: string, path: string): Promise<Buffer> {
  const given = join(root, path)
  requireInside(root, given)
  const real = await realpath(given).catch(() => undefined)
  if (real === undefined) throw new Error('no such file')
  requireInside(root, real)
  // Opening a pipe would block, so the type is checked first.
  const status = await stat(real)
  if (!status.isFile()) throw new Error('it is not a plain file')
  if (status.size > fileLimitBytes)
    throw new Error(`it has ${status.size} bytes, ${fileLimitBytes} are the most`)
  const handle = await open(real, 'r')
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Checked before and after links are resolved, so that files outside the folder are never accessed. */
function requireInside(root: string, path: string): void {
  const way = relative(root, path)
  if (way === '..' || way.startsWith(`..${sep}`))
    throw new Error('it is outside the folder; only files inside are read')
}
