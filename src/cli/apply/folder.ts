/** Reads files of the folder that `apply` was given: nothing outside it, nothing but plain files, and only so much. */
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { usageError } from '../cli-error.js'

/** Documents and sources together. */
const filesMost = 2_000
/** A body takes 10 MiB (docs/behaviour.md, Calls), which base64 makes of this. */
const fileLimitBytes = 7 * 1024 * 1024
const folderLimitBytes = 64 * 1024 * 1024

export interface Folder {
  /** What a set is called that nobody named: the folder's own name. */
  readonly name: string
  /** Names of its documents, in order. */
  readonly documents: readonly string[]
  /** `path`: from the folder. Throws an Error with the reason. */
  readFile(path: string): Promise<Buffer>
  /** Names of the plain files in this folder, in order. Throws an Error with the reason. */
  list(path: string): Promise<readonly string[]>
}

/** Throws CliError (usage) for what is not a folder or has no documents. */
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
      if (++read.files > filesMost) throw new Error(`there are more than ${filesMost} files`)
      const bytes = await readInside(root, wanted)
      read.bytes += bytes.length
      if (read.bytes > folderLimitBytes)
        throw new Error(`the files are more than ${folderLimitBytes} bytes together`)
      return bytes
    },
    list: (wanted) => listInside(root, wanted),
  }
}

/** A test of VCL is a file that documents name. */
function isDocument(name: string): boolean {
  return /^[^.].*\.(ya?ml|json)$/i.test(name) && !/\.test\.[a-z]+$/i.test(name)
}

/** A link to a file counts as one: reading it shows where it leads. */
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
  // Opening a pipe would block: its type is checked first.
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

/** Before and after links are followed: what is outside the folder is not even touched. */
function requireInside(root: string, path: string): void {
  const way = relative(root, path)
  if (way === '..' || way.startsWith(`..${sep}`))
    throw new Error('it is outside the folder; only files inside are read')
}
