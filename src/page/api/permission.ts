/** `/permissions`: what one regular user may, a type at a time. */
import type { PermissionType } from '../../resources/permission.js'
import type { Reference } from './whoami.js'

export interface Permission {
  readonly id: number
  readonly account: Reference
  readonly organization: Reference
  readonly type: PermissionType
  readonly read: boolean
  readonly write: boolean
}
