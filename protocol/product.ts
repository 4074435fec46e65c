/**
 * The products that speak this protocol. With 9.0 the open-source project became Vinyl Cache, with other names of programs, folders and
 * users; Varnish Software keeps the name Varnish. From 9.0 on both greet with `Vinyl Cache CLI 1.0`: only the version line distinguishes
 * them (`varnish-9.0.2 …`, `vinyl-cache-9.0.1 …`). No other module knows these names.
 */

export interface Product {
  readonly name: 'varnish' | 'vinyl'
  /** Name in the version line. */
  readonly versionName: string
  readonly title: string
  /** Program of manager and child. */
  readonly daemon: string
  readonly statTool: string
  /** Prints a line per transaction. */
  readonly logTool: string
  /** Prefix of the log tool's own variables: `%{Varnish:side}x`. */
  readonly logVariables: string
  /** Prints all records of each transaction. */
  readonly recordTool: string
  /** Sends commands to the management port. */
  readonly admTool: string
  /** Folder of a `-n` that is not a path. */
  readonly stateFolder: string
  /** Name in that folder of a cache without `-n` in newer releases; before 7.0 it is the host's name. */
  readonly defaultName: string
  readonly secretFile: string
  /** Group that may read its shared memory. */
  readonly group: string
  readonly unit: string
}

export const varnish: Product = {
  name: 'varnish',
  versionName: 'varnish',
  title: 'Varnish Cache',
  daemon: 'varnishd',
  statTool: 'varnishstat',
  logTool: 'varnishncsa',
  logVariables: 'Varnish',
  recordTool: 'varnishlog',
  admTool: 'varnishadm',
  stateFolder: '/var/lib/varnish',
  defaultName: 'varnishd',
  secretFile: '/etc/varnish/secret',
  group: 'varnish',
  unit: 'varnish.service',
}

export const vinyl: Product = {
  name: 'vinyl',
  versionName: 'vinyl-cache',
  title: 'Vinyl Cache',
  daemon: 'vinyld',
  statTool: 'vinylstat',
  logTool: 'vinylncsa',
  logVariables: 'Vinyl',
  recordTool: 'vinyllog',
  admTool: 'vinyladm',
  stateFolder: '/var/lib/vinyl-cache',
  defaultName: 'vinyld',
  secretFile: '/etc/vinyl-cache/secret',
  group: 'vinyl',
  unit: 'vinyl-cache.service',
}

/** The older product first: if both are installed and neither is running, it is the one in use. */
export const products: readonly Product[] = [varnish, vinyl]

/** Finds a product by its name in the version line or its short name; null for an unknown product. */
export function findProduct(name: string): Product | null {
  return products.find((one) => one.versionName === name || one.name === name) ?? null
}

/** Returns `varnish`, `vinyl`, the name of an unknown product, or an empty text. */
export function nameProduct(versionName: string | null): string {
  return findProduct(versionName ?? '')?.name ?? versionName ?? ''
}

/** Finds a product by the name of its daemon, without a folder. */
export function findProductOfDaemon(program: string): Product | null {
  return products.find(({ daemon }) => daemon === program) ?? null
}
