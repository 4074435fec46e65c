/**
 * The products that speak this protocol: with 9.0 the open-source project became Vinyl Cache, whose programs, folders and
 * users have other names; Varnish Software keeps the name Varnish. From 9.0 on both greet with `Vinyl Cache CLI 1.0`: only the
 * version line tells them apart (`varnish-9.0.2 …`, `vinyl-cache-9.0.1 …`). Nothing else knows these names.
 */

export interface Product {
  readonly name: 'varnish' | 'vinyl'
  /** In its version line. */
  readonly versionName: string
  readonly title: string
  /** Manager and child. */
  readonly daemon: string
  readonly statTool: string
  /** Prints a line for each transaction. */
  readonly logTool: string
  /** How that one calls what it knows of itself: `%{Varnish:side}x`. */
  readonly logVariables: string
  /** Prints all records of each. */
  readonly recordTool: string
  /** Sends commands to the management port. */
  readonly admTool: string
  /** Where a `-n` that is not a path lies. */
  readonly stateFolder: string
  /** The last of the names that a cache without `-n` has in that folder; before 7.0 the host's name. */
  readonly defaultName: string
  readonly secretFile: string
  /** Who may read its shared memory. */
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

/** The elder first: where both are installed and none runs, it is what users have. */
export const products: readonly Product[] = [varnish, vinyl]

/** By the name in the version line, or its short one; null for a make that is not known here. */
export function findProduct(name: string): Product | null {
  return products.find((one) => one.versionName === name || one.name === name) ?? null
}

/** As it is told: `varnish`, `vinyl`, what another make calls itself, or nothing. */
export function nameProduct(versionName: string | null): string {
  return findProduct(versionName ?? '')?.name ?? versionName ?? ''
}

/** By the name of its program, without a folder. */
export function findProductOfDaemon(program: string): Product | null {
  return products.find(({ daemon }) => daemon === program) ?? null
}
