/** The programs that run tests: the cache and its log tool on this machine. */
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
  /** Further arguments of the daemon. */
  readonly words: readonly string[]
}

let isClaimed = false
/** The exit code that a shell reports. */
const endedBySigterm = 128 + 15

/** Returns the owner name for cache folders of this process; remaining folders are removed when it exits, also by Ctrl-C. */
export function claimFolders(): string {
  const owner = `tests of process ${process.pid}`
  if (!isClaimed) {
    removeFoldersAtExit(owner)
    process.once('SIGTERM', () => process.exit(endedBySigterm))
  }
  isClaimed = true
  return owner
}

/** The first cache program on PATH, then in `/usr/sbin`, which the PATH of most users lacks. Null: there is none. */
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
