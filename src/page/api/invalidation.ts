/** `/invalidations`: bans and purges. */
import type { Reference } from '../../resources/resource.js'

/** Exactly one key. */
export interface InvalidationTarget {
  readonly vclGroup?: Reference
  readonly domains?: readonly { readonly id: number; readonly fqdn: string }[]
  readonly tags?: readonly Reference[]
  readonly agents?: readonly Reference[]
  readonly all?: true
}

export interface ListedInvalidation {
  readonly id: number
  readonly organization: Reference | null
  readonly type: 'ban' | 'purge'
  readonly expressions: readonly string[]
  readonly urls: readonly string[]
  readonly method: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly target: InvalidationTarget
  /** Seconds. */
  readonly ttl: number
  readonly state: 1 | 2 | 3 | 4 | 5 | 6
  readonly stateName: string
  readonly done: number
  readonly total: number
  readonly warnings: readonly string[]
  readonly account: string
  readonly created: string
  readonly updated: string
  readonly expires: string
  readonly finished: string | null
}

export interface InvalidationResult {
  readonly agent: Reference
  readonly state: 'pending' | 'done' | 'failed' | 'expired' | 'cancelled'
  readonly error: string | null
  readonly at: string | null
}

export interface Invalidation extends ListedInvalidation {
  readonly results: readonly InvalidationResult[]
}

export interface InvalidationPreview {
  /** Agents of the target. */
  readonly total: number
  /** Those that would have something to do. */
  readonly reached: number
  /** Of these, those that would do it later. */
  readonly away: number
  readonly warnings: readonly string[]
}
