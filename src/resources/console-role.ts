/**
 * The rights of a console caller: three fixed roles, two of them limited to the assigned groups
 * (docs/behaviour.md, Console users).
 */
import { isAdministrator, type Actor, type Rights } from './permission.js'

export const consoleRoles = ['Admin', 'User', 'ReadOnly'] as const
export type ConsoleRole = (typeof consoleRoles)[number]

/** The access that a console call needs: any role, the right to change a group, or the right to administer. */
export type ConsoleAccess = 'read' | 'write' | 'administer'

export interface ConsoleRights {
  readonly role: ConsoleRole
  /** The ids (in the controller API) of the visible groups; null: all of the organization. */
  readonly groupIds: ReadonlySet<number> | null
}

const accessOf: Readonly<Record<ConsoleRole, readonly ConsoleAccess[]>> = {
  Admin: ['read', 'write', 'administer'],
  User: ['read', 'write'],
  ReadOnly: ['read'],
}

/** The account's role in the console of an organization; null: none. */
export function toConsoleRole(
  rights: Rights | null,
  consoleRole: ConsoleRole | null,
): ConsoleRole | null {
  return rights && isAdministrator(rights) ? 'Admin' : consoleRole
}

/** False for a caller that does not use the console. */
export function mayInConsole({ console }: Actor, access: ConsoleAccess): boolean {
  return console !== undefined && accessOf[console.role].includes(access)
}

/** Objects outside the caller's groups are hidden: the console answers 404. */
export function seesGroup({ console }: Actor, groupId: number | null): boolean {
  if (!console || console.groupIds === null) return console !== undefined
  return groupId !== null && console.groupIds.has(groupId)
}

interface LoginName {
  readonly account: string
  /** Undefined: the organization that the account belongs to. */
  readonly organization: string | undefined
}

/** Reads `account@organization`; account names may contain @, so the whole text is one of the candidates. */
export function readLoginName(text: string): readonly LoginName[] {
  const at = text.lastIndexOf('@')
  const whole = { account: text, organization: undefined }
  if (at <= 0 || at === text.length - 1) return [whole]
  return [whole, { account: text.slice(0, at), organization: text.slice(at + 1) }]
}
