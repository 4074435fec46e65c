/** The VCL that a test runs against: one flattened text, and for a group with domains what stands around it in production. */
import { randomBytes } from 'node:crypto'
import { bundleVcl, type VclText } from '../vcl/bundle.js'
import { purgeSecret } from '../vcl/prologue.js'
import type { SourceMap } from '../vcl/source-map.js'

export interface TestedVcl {
  /** Prologue included. */
  readonly text: string
  /** Null: what the compiler says stays as it is. */
  readonly sourceMap: SourceMap | null
  /** Whose prologue it has. */
  readonly groupId: number
  /** Null: it is a root group's, or of no group: the whole VCL of the cache. */
  readonly routed: { readonly domains: readonly string[]; readonly purgeSecret: string } | null
}

type FlattenedVcl =
  | { readonly ok: true; readonly vcl: TestedVcl }
  | { readonly ok: false; readonly errors: readonly string[] }

/** @param domains none: it is the whole VCL of the cache */
export function flattenTested(
  main: VclText,
  includes: ReadonlyMap<string, VclText>,
  domains: readonly string[],
): FlattenedVcl {
  // Of no group: the value is used for this one run.
  const cacheKey = randomBytes(16).toString('hex')
  const isRouted = domains.length > 0
  const bundle = bundleVcl(main, includes, {
    allowedExternal: new Set(),
    modules: null,
    prologue: isRouted ? { groupId: testedGroup, cacheKey } : undefined,
  })
  if (!bundle.ok) return bundle
  const { text, sourceMap } = bundle
  const routed = isRouted ? { domains, purgeSecret: purgeSecret(cacheKey) } : null
  return { ok: true, vcl: { text, sourceMap, groupId: testedGroup, routed } }
}

/** The only one on its cache. */
const testedGroup = 1
