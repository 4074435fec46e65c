/** The test files that paths stand for: files as they are, of folders all that are called like a test. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { usageError } from '../cli-error.js'
import { readTestFile } from '../../test-files/read-test-file.js'
import { testFileLimitBytes, type TestFile } from '../../test-files/test-file.js'

export interface FoundTest {
  /** As it was given, or from the folder that was. */
  readonly path: string
  readonly test: TestFile
}

const testName = /^[^.].*\.test\.(?:ya?ml|json)$/i
const filesMost = 1_000
/** Folders below a folder. */
const deepMost = 8

/** Throws CliError (usage) for what is not there. In the order of the paths. */
export async function listTestFiles(paths: readonly string[]): Promise<readonly string[]> {
  const files: string[] = []
  for (const path of paths) {
    const status = await stat(path).catch(() => null)
    if (status === null) throw usageError(`${path} is not there`)
    if (!status.isDirectory()) files.push(path)
    else files.push(...(await listFolder(path, 0)))
  }
  if (files.length > filesMost)
    throw usageError(`there are ${files.length} test files; ${filesMost} are the most`)
  return [...new Set(files)]
}

async function listFolder(folder: string, deep: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files: string[] = []
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    const isFolder = entry.isDirectory() && !/^(?:\.|node_modules$)/.test(entry.name)
    if (isFolder && deep < deepMost) files.push(...(await listFolder(path, deep + 1)))
    else if (!entry.isDirectory() && testName.test(entry.name)) files.push(path)
  }
  return files
}

/** Throws CliError (usage) with everything that is wrong with them, each with its file and line. */
export async function readTests(paths: readonly string[]): Promise<readonly FoundTest[]> {
  const problems: string[] = []
  const found: FoundTest[] = []
  for (const path of paths) {
    const { size } = await stat(path)
    const read =
      size > testFileLimitBytes
        ? tooLarge(size)
        : readTestFile(await readFile(path, 'utf8').catch(() => ''))
    if (read.ok) found.push({ path, test: read.test })
    else
      problems.push(...read.problems.map(({ line, message }) => `${path} line ${line}: ${message}`))
  }
  if (problems.length > 0) throw usageError(problems.join('\n'))
  return found
}

function tooLarge(bytes: number) {
  const message = `the file has ${bytes} bytes, at most ${testFileLimitBytes} are right`
  return { ok: false, problems: [{ line: 1, message }] } as const
}
