/** Where the agent's cache keeps its files and which product it is: as a setting says, else as its manager was started. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { findProduct, varnish, type Product } from '../../../protocol/product.js'
import { readPidsOnDisk } from '../apply/inventory.js'
import { readRunningCache, type RunningCache } from './running-caches.js'

export interface SoughtCache {
  /** The cache's `-n`, as a setting names it; null: that of the running cache. */
  readonly workingDirectory: string | null
  /** Of the cache's manager, where it is known. */
  readonly cachePid: () => number | null
  /** As the cache calls itself; empty until it was reached. */
  readonly product: () => string
  /** Where a `-n` that is not a path lies; that of the product unless told. */
  readonly stateFolder?: string
}

interface CachePlace {
  /** Its working directory, an absolute path. */
  readonly folder: string
  readonly product: Product
  /** Null: it runs elsewhere, or nobody knows its pid. */
  readonly cache: RunningCache | null
}

/** Null while it is not known. */
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

/** One of the default names is that of this cache only if its manager is: a host may run several. */
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
