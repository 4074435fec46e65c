/** Differences between the engine's releases that a simulated engine can imitate (management-protocol: 6; the release tags). */
import { findProduct, varnish, type Product } from '../product.js'
import { isAtLeast, isSince, type Since } from '../release.js'

export interface EngineRelease {
  readonly product: Product
  readonly version: string
  /** True if this release includes a feature since `[release in the 6.0 branch, release after it]`. */
  readonly has: (since: Since) => boolean
  /** Check of quotes between words: none before 7.0; 7.0 to 7.4 refuse adjacent quoted words; later only touching ones. */
  readonly quoting: Quoting
  /** Errors before the command is known start with "Unknown request" (up to 7.4). */
  readonly isUnknownPrefixed: boolean
  readonly cliLimit: string
  /** Text at the end of a truncated reply (up to 6.3); empty if there is none. */
  readonly cutMark: string
  /** Format of vcl.list: one field `auto/warm` (up to 6.1), columns, columns with right-aligned numbers (from 7.4). */
  readonly vclList: 'joined' | 'columns' | 'right'
  /** Format of backend.list: `Healthy 5/5` (6.0), `5/5 good` (6.1), columns. */
  readonly backendList: 'lts' | 'single' | 'columns'
  /** Format of bits: the set ones; after `none` or `all` (7.5); or that word alone (7.7). */
  readonly bits: 'plain' | 'prefixed' | 'words'
  /** For the parameter `feature`: its initial bits, and the text after `Default is:`. */
  readonly feature: { readonly bits: readonly string[]; readonly defaultText: string }
}

/** `backend name none;` in VCL (vcc_backend.c). */
export const noneBackend: Since = ['6.0.6', '6.4']

export type Quoting = 'loose' | 'neighbours' | 'touching'

/** Accepts names such as `7.1.1`, or `vinyl-9.0.1` for the other product. */
export function parseRelease(name: string): EngineRelease {
  const [, title = varnish.name, version] = /^(?:([a-z]+)-)?(\d+\.\d.*)$/.exec(name) ?? []
  const product = findProduct(title)
  if (version === undefined || product === null)
    throw new TypeError(
      `engine version ${JSON.stringify(name)}: expected one like 7.1.1 or vinyl-9.0.1`,
    )
  const isFrom = (least: string) => isAtLeast(version, least)
  const has = (since: Since) => isSince(version, since)
  return {
    product,
    version,
    has,
    quoting: choose(version, { '7.5': 'touching', '7.0': 'neighbours', '0': 'loose' }),
    isUnknownPrefixed: !isFrom('7.5'),
    cliLimit: has(['6.0.13', '7.5']) || hasLateFixes(version) ? '64k' : '48k',
    cutMark: isFrom('6.4') ? '' : '!\n[response was truncated]\n',
    vclList: choose(version, { '7.4': 'right', '6.2': 'columns', '0': 'joined' }),
    backendList: choose(version, { '6.2': 'columns', '6.1': 'single', '0': 'lts' }),
    bits: choose(version, { '7.7': 'words', '7.5': 'prefixed', '0': 'plain' }),
    feature: featureOf(version, has),
  }
}

/** Picks the form of the newest listed release that is not newer than `version`; `0` matches every version. */
function choose<Form extends string>(version: string, forms: Readonly<Record<string, Form>>): Form {
  const since = Object.keys(forms).toSorted((a, b) => (isAtLeast(a, b) ? -1 : 1))
  const form = forms[since.find((least) => isAtLeast(version, least)) ?? '']
  if (form === undefined) throw new TypeError(`no form for ${version}`)
  return form
}

/** Changes of 7.5 that the last releases of 7.3 and 7.4 include too. */
function hasLateFixes(version: string): boolean {
  return isAtLeast(version, version.startsWith('7.3.') ? '7.3.1' : '7.4.2')
}

/** From mgt_param_bits.c and params.h of the release tags. */
function featureOf(version: string, has: EngineRelease['has']): EngineRelease['feature'] {
  if (has([null, '7.1'])) {
    const bits = ['validate_headers', ...(hasLateFixes(version) ? ['vcl_req_reset'] : [])]
    return { bits, defaultText: bits.map((bit) => `+${bit}`).join(',') }
  }
  if (has([null, '6.6'])) return { bits: ['validate_headers'], defaultText: 'default' }
  if (has(['6.0.12', '6.6'])) return { bits: ['vcl_req_reset'], defaultText: 'default' }
  return { bits: [], defaultText: 'none' }
}
