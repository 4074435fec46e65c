/**
 * What a caller of the console may do: three fixed roles, two of them only in the groups that were assigned
 * (docs/behaviour.md, Console users).
 */
import { isAdministrator, type Actor, type Rights } from './permission.js'

export const consoleRoles = ['Admin', 'User', 'ReadOnly'] as const
export type ConsoleRole = (typeof consoleRoles)[number]

/** What a call of the console needs: any role, the right to change something in a group, or to administer. */
export type ConsoleAccess = 'read' | 'write' | 'administer'

export interface ConsoleRights {
  readonly role: ConsoleRole
  /** The groups that it sees, by the controller's ids; null: all of its organization. */
  readonly groupIds: ReadonlySet<number> | null
}

const accessOf: Readonly<Record<ConsoleRole, readonly ConsoleAccess[]>> = {
  Admin: ['read', 'write', 'administer'],
  User: ['read', 'write'],
  ReadOnly: ['read'],
}

/** What an account is in the console of an organization; null: it has no role there. */
export function toConsoleRole(
  rights: Rights | null,
  consoleRole: ConsoleRole | null,
): ConsoleRole | null {
  return rights && isAdministrator(rights) ? 'Admin' : consoleRole
}

/** False for whoever did not come by the console. */
export function mayInConsole({ console }: Actor, access: ConsoleAccess): boolean {
  return console !== undefined && accessOf[console.role].includes(access)
}

/** Of what lies outside of its groups a caller is not told that it exists: 404. */
export function seesGroup({ console }: Actor, groupId: number | null): boolean {
  if (!console || console.groupIds === null) return console !== undefined
  return groupId !== null && console.groupIds.has(groupId)
}

interface LoginName {
  readonly account: string
  /** Undefined: the one that the account is in. */
  readonly organization: string | undefined
}

/** `account@organization`; an account may itself have an @ in its name, so the whole name is one of the answers. */
export function readLoginName(text: string): readonly LoginName[] {
  const at = text.lastIndexOf('@')
  const whole = { account: text, organization: undefined }
  if (at <= 0 || at === text.length - 1) return [whole]
  return [whole, { account: text.slice(0, at), organization: text.slice(at + 1) }]
}
