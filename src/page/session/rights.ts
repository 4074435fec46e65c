/** Permissions of the logged-in user: views hide actions that would be refused. The API still decides. */
import type { PermissionType } from '../../resources/permission.js'
import type { Whoami } from '../../resources/session.js'
import { session } from './access.js'

/** Null: no user is logged in. */
export function readWho(): Whoami | null {
  return typeof session.value === 'object' ? (session.value?.who ?? null) : null
}

export function mayRead(type: PermissionType): boolean {
  return readWho()?.permissions.some((one) => one.type === type && one.read) ?? false
}

/** True if the user can read something but write nothing. */
export function isReadOnly(): boolean {
  const permissions = readWho()?.permissions ?? []
  return permissions.some(({ read }) => read) && !permissions.some(({ write }) => write)
}

export function mayWrite(type: PermissionType): boolean {
  return readWho()?.permissions.some((one) => one.type === type && one.write) ?? false
}
