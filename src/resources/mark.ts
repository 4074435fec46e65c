/** What happened at a time and may show in graphs of it: deploys, invalidations, caches that went away. */

/** Those of groups are what their history calls them. */
export const markKinds = [
  ...(['adopt', 'deploy', 'undeploy', 'reload', 'rollback', 'promote'] as const),
  ...(['ban', 'purge', 'agent-down', 'cache-failing'] as const),
] as const
export type MarkKind = (typeof markKinds)[number]

export const markObjectTypes = ['vclgroup', 'invalidation', 'agent'] as const

export interface Mark {
  /** ISO 8601. */
  readonly at: string
  readonly kind: MarkKind
  /** It did not come to pass. */
  readonly failed: boolean
  /** Null: nobody did it. */
  readonly account: string | null
  /** That a group got; null: none. */
  readonly revision: number | null
  readonly object: {
    readonly type: (typeof markObjectTypes)[number]
    readonly id: number
    readonly name: string
  }
}

export interface Marks {
  /** The newest first. */
  readonly marks: readonly Mark[]
  /** There are more, earlier in the range. */
  readonly more: boolean
}
