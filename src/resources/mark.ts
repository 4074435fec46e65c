/** Events to mark in graphs: deploys, invalidations, caches that went down. */

/** Kinds of group marks are the actions of the group's history. */
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
  /** The action failed. */
  readonly failed: boolean
  /** Null: no account caused it. */
  readonly account: string | null
  /** The group's new revision; null: none. */
  readonly revision: number | null
  readonly object: {
    readonly type: (typeof markObjectTypes)[number]
    readonly id: number
    readonly name: string
  }
}

export interface Marks {
  /** Newest first. */
  readonly marks: readonly Mark[]
  /** Whether there are more, earlier in the range. */
  readonly more: boolean
}
