/** What tests are run with: the cache's program and its log tool, as this machine has them. */
import { access, constants } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { findProductOfDaemon, products, varnish } from '../../protocol/product.js'
import { removeFoldersAtExit } from '../agent/check/check-folder.js'
import { findCacheTool } from '../agent/host/trusted-program.js'

export interface TestProgram {
  /** Path of varnishd or vinyld. */
  readonly daemon: string
  /** Prints all records of a request. */
  readonly recordTool: string
  readonly logVariables: string
  /** Further words of the daemon's command line. */
  readonly words: readonly string[]
}

let isClaimed = false
/** As a shell tells it. */
const endedBySigterm = 128 + 15

/** What folders of caches that this process starts are called by; those that are left go with it, as by Ctrl-C. */
export function claimFolders(): string {
  const owner = `tests of process ${process.pid}`
  if (!isClaimed) {
    removeFoldersAtExit(owner)
    process.once('SIGTERM', () => process.exit(endedBySigterm))
  }
  isClaimed = true
  return owner
}

/** The first on PATH, whatever runs on this machine: `/usr/sbin` is what the PATH of most users lacks. Null: there is none. */
export async function findTestProgram(searchPath: string): Promise<TestProgram | null> {
  for (const folder of [...searchPath.split(':'), '/usr/sbin'])
    for (const { daemon } of products) {
      const path = join(folder, daemon)
      const isThere = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (folder.startsWith('/') && isThere) return describeProgram(path, [])
    }
  return null
}

export async function describeProgram(
  daemon: string,
  words: readonly string[],
): Promise<TestProgram> {
  const { recordTool, logVariables } = findProductOfDaemon(basename(daemon)) ?? varnish
  const path = await findCacheTool({ program: daemon }, recordTool)
  return { daemon, recordTool: path, logVariables, words }
}
