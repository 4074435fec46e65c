/** Which file holds the secret of the management port, where no setting names it. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { products, varnish } from '../../../protocol/product.js'
import { chooseCache, listRunningCaches } from './running-caches.js'

/** What a manager that was started without `-S` makes for itself (mgt_cli.c, mgt_cli_secret). */
const ownSecret = '_.secret'

/**
 * That of the cache that listens on this port of this host (null: it is on another one); where none is seen, that of the
 * product that is installed. To be asked at each authentication: another release, or product, may have taken its place.
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
