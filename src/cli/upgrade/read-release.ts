/** The release of an agent's cache, from the API's fields. */
import type { CacheRelease } from '../../resources/cache-release.js'
import type { Fields } from '../api-shapes.js'

export function readRelease({ engineProduct, engineVersion }: Fields): CacheRelease {
  return { product: String(engineProduct), version: String(engineVersion) }
}
