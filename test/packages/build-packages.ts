/** Packages of the checkout as `npm run package` makes them, but from local files: without downloads and compression. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../support/root.js'

/** The part of tap's Test needed here. */
export interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

/** Timestamp of packed files, seconds since 1970: a checkout need not be a repository. */
const writtenAt = '1700000000'
const outputLimitBytes = 64 << 20

/** Returns the output; throws with it on failure. */
export async function execute(
  command: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { PATH = '', HOME = '/' } = process.env
  const { stdout } = await promisify(execFile)(command, words, {
    env: { PATH, HOME, ...environment },
    maxBuffer: outputLimitBytes,
  })
  return stdout
}

/** Returns the packages' folder, removed with the test. */
export async function buildPackages(t: TestEnd): Promise<string> {
  const folder = await makeFolder(t)
  const program = join(root, 'scripts/package/build.mjs')
  const words = [program, '--quick', '--local', '--into', folder]
  await execute(process.execPath, words, { SOURCE_DATE_EPOCH: writtenAt })
  return folder
}

/** Debian packages by name. */
export async function listPackages(folder: string): Promise<Readonly<Record<string, string>>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.deb'))
  return Object.fromEntries(files.map((file) => [file.split('_', 1)[0] ?? '', join(folder, file)]))
}

export async function makeFolder(t: TestEnd): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-packages-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
