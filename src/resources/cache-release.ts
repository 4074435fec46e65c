/** Releases of the cache, as groups name those that they may go to: `7`, `6.0`, `vinyl-9`. */

/** What a cache says that it is; both are empty until it was reached. */
export interface CacheRelease {
  /** `varnish`, `vinyl`, or what another make calls itself. */
  readonly product: string
  /** `7.1.1`. */
  readonly version: string
}

export const unknownRelease: CacheRelease = { product: '', version: '' }

/** Without a product it is Varnish; that of another make is what it calls itself. Numbers as they are printed, without zeros before them. */
const releaseForm = /^(?:([a-z][a-z0-9]{0,29})-)?((?:0|[1-9]\d{0,3})(?:\.(?:0|[1-9]\d{0,3})){0,3})$/

export const releaseText = {
  pattern: releaseForm,
  right: 'a release of the cache such as 7, 6.0, varnish-9 or vinyl-9.0',
} as const

/** More than there are series of releases. */
export const releasesMost = 20

/** Whether it is one of the named release: its numbers begin with those that are named. */
export function isOfRelease({ product, version }: CacheRelease, named: string): boolean {
  const [, ofProduct = 'varnish', numbers] = releaseForm.exec(named) ?? []
  if (numbers === undefined || product !== ofProduct || !version.startsWith(numbers)) return false
  // 7 is no 70, and 6.0 no 6.01.
  return !/^\d/.test(version.slice(numbers.length))
}

/** Null: any will do. */
export function isOfReleases(release: CacheRelease, named: readonly string[] | null): boolean {
  return named === null || named.some((one) => isOfRelease(release, one))
}

/** One of each release, in their order. */
export function chooseOfEachRelease<A extends { readonly release: CacheRelease }>(
  agents: readonly A[],
): readonly A[] {
  const chosen = new Map<string, A>()
  for (const agent of agents) {
    const { product, version } = agent.release
    const key = `${product}-${version}`
    if (!chosen.has(key)) chosen.set(key, agent)
  }
  return [...chosen.values()]
}

/** `Varnish 7.1.1`; null until the cache was reached. */
export function titleOfRelease({ product, version }: CacheRelease): string | null {
  if (version === '') return null
  return `${product.charAt(0).toUpperCase()}${product.slice(1)} ${version}`.trim()
}
