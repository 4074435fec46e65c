/** `/auth/whoami`: who is logged in, and what they may. */
export type PermissionType =
  | 'vclgroup'
  | 'deployment'
  | 'file'
  | 'domain'
  | 'tag'
  | 'agent'
  | 'invalidation'
  | 'stats'
  | 'command'
  | 'org'
  | 'account'
  | 'perm'
  | 'session'
  | 'idp'
  | 'apilog'

export interface Reference {
  readonly id: number
  readonly name: string
}

export interface Whoami {
  readonly account: Reference
  /** Null: the system administrator. */
  readonly organization: Reference | null
  readonly role: 'system' | 'administrator' | 'regular'
  readonly permissions: readonly {
    readonly type: PermissionType
    readonly read: boolean
    readonly write: boolean
  }[]
  /** The login that this browser has. */
  readonly session: { readonly id: number }
}
