/** `/users`: accounts in an organization, with their roles there. */
import type { Reference } from './whoami.js'

export type Role = 'administrator' | 'regular'

export interface User {
  readonly id: number
  readonly account: Reference
  readonly organization: Reference
  readonly role: Role
  readonly created: string
  readonly updated: string
}
