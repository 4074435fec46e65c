/** Where the agent's cache keeps its files, and its product: taken from a setting, else from the command line of its manager. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { findProduct, varnish, type Product } from '../../../protocol/product.js'
import { readPidsOnDisk } from '../apply/inventory.js'
import { readRunningCache, type RunningCache } from './running-caches.js'

export interface SoughtCache {
  /** The cache's `-n` from a setting; null: that of the running cache. */
  readonly workingDirectory: string | null
  /** Pid of the cache's manager, if known. */
  readonly cachePid: () => number | null
  /** The cache's product name; empty until it was reached. */
  readonly product: () => string
  /** Folder for a `-n` that is not a path; default: that of the product. */
  readonly stateFolder?: string
}

interface CachePlace {
  /** The cache's working directory, an absolute path. */
  readonly folder: string
  readonly product: Product
  /** Null: it runs elsewhere, or its pid is unknown. */
  readonly cache: RunningCache | null
}

/** Null while it is unknown. */
export async function findCachePlace(sought: SoughtCache): Promise<CachePlace | null> {
  const pid = sought.cachePid()
  const cache = pid === null ? null : await readRunningCache(pid)
  const product = findProduct(sought.product()) ?? cache?.product ?? varnish
  const stateFolder = sought.stateFolder ?? product.stateFolder
  const folder =
    sought.workingDirectory === null
      ? (cache?.workingDirectory ?? (await findDefaultFolder(stateFolder, product, pid)))
      : resolve(stateFolder, sought.workingDirectory)
  return folder === null ? null : { folder, product, cache }
}

/** A default name is used only if its manager is this cache's: a host may run several caches. */
export async function findDefaultFolder(
  stateFolder: string,
  { defaultName }: Product,
  pid: number | null,
): Promise<string | null> {
  if (pid === null) return null
  for (const name of [hostname(), defaultName]) {
    const folder = resolve(stateFolder, name)
    if ((await readPidsOnDisk(folder)).masterPid === pid) return folder
  }
  return null
}
