/** Finds test files: files are taken as given, folders contribute every file with the name of a test. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { usageError } from '../cli-error.js'
import { readTestFile } from '../../test-files/read-test-file.js'
import { testFileLimitBytes, type TestFile } from '../../test-files/test-file.js'

const testName = /^[^.].*\.test\.(?:ya?ml|json)$/i
const maxFiles = 1_000
/** Maximum depth of nested folders. */
const maxDepth = 8

/** Returns files in the order of the paths. Throws CliError (usage) for a path that does not exist. */
export async function listTestFiles(paths: readonly string[]): Promise<readonly string[]> {
  const files: string[] = []
  for (const path of paths) {
    const status = await stat(path).catch(() => null)
    if (status === null) throw usageError(`${path} is not there`)
    if (!status.isDirectory()) files.push(path)
    else files.push(...(await listFolder(path, 0)))
  }
  if (files.length > maxFiles)
    throw usageError(`there are ${files.length} test files; ${maxFiles} are the most`)
  return [...new Set(files)]
}

async function listFolder(folder: string, deep: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files: string[] = []
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    const isFolder = entry.isDirectory() && !/^(?:\.|node_modules$)/.test(entry.name)
    if (isFolder && deep < maxDepth) files.push(...(await listFolder(path, deep + 1)))
    else if (!entry.isDirectory() && testName.test(entry.name)) files.push(path)
  }
  return files
}

/** Reads tests and collects their problems. */
export class TestReader {
  readonly #problems: string[] = []

  /** Returns undefined if the file has problems. */
  async read(path: string): Promise<TestFile | undefined> {
    const size = (await stat(path)).size
    const read =
      size > testFileLimitBytes
        ? ({ ok: false, problems: [tooLarge(size)] } as const)
        : readTestFile(await readFile(path, 'utf8'))
    if (read.ok) return read.test
    for (const { line, message } of read.problems)
      this.#problems.push(`${path} line ${line}: ${message}`)
    return undefined
  }

  /** Throws CliError (usage) with all problems, each with its file and line. */
  check(): void {
    if (this.#problems.length > 0) throw usageError(this.#problems.join('\n'))
  }
}

function tooLarge(bytes: number) {
  const message = `the file has ${bytes} bytes; at most ${testFileLimitBytes} are allowed`
  return { line: 1, message } as const
}
