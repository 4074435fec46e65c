/** The VCL under test: one flattened text, plus the routing that surrounds a group with domains in production. */
import { randomBytes } from 'node:crypto'
import { bundleVcl, type VclText } from '../vcl/bundle.js'
import { purgeSecret } from '../vcl/prologue.js'
import type { SourceMap } from '../vcl/source-map.js'

export interface TestedVcl {
  /** Prologue included. */
  readonly text: string
  /** Null: compiler errors are not translated. */
  readonly sourceMap: SourceMap | null
  /** The group of its prologue. */
  readonly groupId: number
  /** Null: a root group, or no group: the text is the whole VCL of the cache. */
  readonly routed: { readonly domains: readonly string[]; readonly purgeSecret: string } | null
}

type FlattenedVcl =
  | { readonly ok: true; readonly vcl: TestedVcl }
  | { readonly ok: false; readonly errors: readonly string[] }

/** @param domains empty: the text is the whole VCL of the cache */
export function flattenTested(
  main: VclText,
  includes: ReadonlyMap<string, VclText>,
  domains: readonly string[],
): FlattenedVcl {
  // Not the key of a group: it is used for this run only.
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

/** The only group on its cache. */
const testedGroup = 1
