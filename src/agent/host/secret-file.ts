/** Finds the secret file of the management port if no setting names it. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { products, varnish } from '../../../protocol/product.js'
import { chooseCache, listRunningCaches } from './running-caches.js'

/** A manager that was started without `-S` creates this file (mgt_cli.c, mgt_cli_secret). */
const ownSecret = '_.secret'

/**
 * The secret file of the cache that listens on this port of this host (null: it is on another host); if none is seen, that of
 * the installed product. Must be called at each authentication: another release or product may have replaced the cache.
 */
export async function findSecretFile(managementPort: number | null): Promise<string> {
  const cache =
    managementPort === null ? null : chooseCache(await listRunningCaches(), managementPort)
  if (cache?.secretFile?.startsWith('/') === true) return cache.secretFile
  if (cache?.secretFile === null && cache.workingDirectory !== null)
    return join(cache.workingDirectory, ownSecret)
  if (cache) return cache.product.secretFile
  for (const { secretFile } of products) if (await isThere(secretFile)) return secretFile
  return varnish.secretFile
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
