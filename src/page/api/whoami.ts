/** `/auth/whoami`: who is logged in, and what they may. */
import type { Permission } from '../../resources/permission.js'

export interface Reference {
  readonly id: number
  readonly name: string
}

export interface Whoami {
  readonly account: Reference
  /** Null: the system administrator. */
  readonly organization: Reference | null
  readonly role: 'system' | 'administrator' | 'regular'
  readonly permissions: readonly Permission[]
  /** The login that this browser has. */
  readonly session: { readonly id: number }
}
