/**
 * The cache that tests run: the first product's program found in the folders of PATH and `/usr/sbin`. Any release can be tested
 * with its folders at the front of PATH, as `npm run test:releases` does.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { nameProduct, products, varnish, type Product } from '../../protocol/product.js'
import { parseBanner } from '../../protocol/release.js'

export interface CacheProgram {
  /** By its name: a package may link the names of one product to the other. */
  readonly product: Product
  /** Path. */
  readonly daemon: string
  /** Path of the client for its management port. */
  readonly adm: string
}

const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin']

export const cacheProgram = findCacheProgram(folders)

export function findCacheProgram(search: readonly string[]): CacheProgram {
  for (const folder of search)
    for (const product of products) {
      const daemon = join(folder, product.daemon)
      if (existsSync(daemon)) return { product, daemon, adm: findAdm(daemon, product) }
    }
  throw new Error(`there is no cache in ${search.join(':')}`)
}

/** In the `bin` beside its `sbin`, else on PATH. */
function findAdm(daemon: string, { admTool }: Product): string {
  const near = join(dirname(daemon), '..', 'bin', admTool)
  return existsSync(near) ? near : admTool
}

export interface CacheRelease {
  /** `7.1.1`, `vinyl-9.0.1`: as in the names of simulated engines and fixtures. */
  readonly name: string
  /** `varnish` or `vinyl`. */
  readonly product: string
  /** Such as `7.1.1`. */
  readonly version: string
}

const known = new Map<string, CacheRelease>()

/** As reported by the program. */
export function readRelease(daemon = cacheProgram.daemon): CacheRelease {
  const release = known.get(daemon) ?? askRelease(daemon)
  known.set(daemon, release)
  return release
}

function askRelease(daemon: string): CacheRelease {
  const { stderr, stdout } = spawnSync(daemon, ['-V'], { encoding: 'utf8' })
  const { product, version } = parseBanner(/\(([^()]*)\)/.exec(`${stderr}${stdout}`)?.[1] ?? '')
  if (version === null) throw new Error(`${daemon} does not tell its version`)
  const own = nameProduct(product)
  return { name: own === varnish.name ? version : `${own}-${version}`, product: own, version }
}
