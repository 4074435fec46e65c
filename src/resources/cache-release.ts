/** Releases of the cache, such as `7`, `6.0`, `vinyl-9`: a group may list those that it can be placed on. */

/** The release that a cache reports; both fields are empty until it was reached. */
export interface CacheRelease {
  /** `varnish`, `vinyl`, or the name that another product reports. */
  readonly product: string
  /** `7.1.1`. */
  readonly version: string
}

export const unknownRelease: CacheRelease = { product: '', version: '' }

/** Without a product it is Varnish; other products by the name that they report. Numbers have no leading zeros. */
const releaseForm = /^(?:([a-z][a-z0-9]{0,29})-)?((?:0|[1-9]\d{0,3})(?:\.(?:0|[1-9]\d{0,3})){0,3})$/

export const releaseText = {
  pattern: releaseForm,
  right: 'a release of the cache such as 7, 6.0, varnish-9 or vinyl-9.0',
} as const

/** More than there are release series. */
export const maxReleases = 20

/** Whether the release matches the named one: its version begins with the named numbers. */
export function isOfRelease({ product, version }: CacheRelease, named: string): boolean {
  const [, ofProduct = 'varnish', numbers] = releaseForm.exec(named) ?? []
  if (numbers === undefined || product !== ofProduct || !version.startsWith(numbers)) return false
  // 7 does not match 70, and 6.0 does not match 6.01.
  return !/^\d/.test(version.slice(numbers.length))
}

/** `named` null: any release. */
export function isOfReleases(release: CacheRelease, named: readonly string[] | null): boolean {
  return named === null || named.some((one) => isOfRelease(release, one))
}

/** One agent per release, keeping their order. */
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
