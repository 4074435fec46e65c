/** What an actor may do and may grant: permission types, grants, roles (docs/behaviour.md, Permissions). */
import type { ConsoleRights } from './console-role.js'

export const permissionTypes = [
  'vclgroup',
  'deployment',
  'file',
  'domain',
  'tag',
  'agent',
  'invalidation',
  'stats',
  'command',
  'org',
  'account',
  'perm',
  'session',
  'idp',
  'apilog',
  'webhook',
  'certificate',
  'log',
  'logclient',
] as const
export type PermissionType = (typeof permissionTypes)[number]
export type Access = 'read' | 'write'

/** The permissions of one account in one organization; write implies read. */
export type Grants = Readonly<Partial<Record<PermissionType, Access>>>

/** Roles of a user; the system administrator belongs to no organization. */
export const organizationRoles = ['administrator', 'regular'] as const
export type OrganizationRole = (typeof organizationRoles)[number]

/** Role and grants of an account in an organization. An administrator's grants are kept and apply once it is regular. */
export interface Rights {
  readonly role: OrganizationRole
  readonly grants: Grants
}

/** The caller. */
export interface Actor {
  readonly accountId: number
  readonly accountName: string
  readonly sessionId: number
  /** Null: the system administrator, who belongs to no organization and sees all. */
  readonly organizationId: number | null
  readonly role: 'system' | OrganizationRole
  readonly grants: Grants
  /** The limits of an API token, regardless of its account's rights. Absent: a login. */
  readonly limits?: Grants
  /** Present for console calls, where the role applies instead of the grants. */
  readonly console?: ConsoleRights
}

/** A permission in the API. */
export interface Permission {
  readonly type: PermissionType
  readonly read: boolean
  readonly write: boolean
}

export function may(actor: Actor, type: PermissionType, access: Access): boolean {
  const { role, grants, limits } = actor
  if (limits && !allows(limits, type, access)) return false
  return role !== 'regular' || allows(grants, type, access)
}

/** Write on `perm` amounts to administrator: its holder could grant itself the rest (docs/behaviour.md, Permissions). */
export function isAdministrator({ role, grants }: Rights): boolean {
  return role === 'administrator' || grants.perm === 'write'
}

/** Whether the actor may give an account these rights, or set the password of one that has them: no actor grants more than it holds. */
export function mayGrant(actor: Actor, rights: Rights): boolean {
  if (may(actor, 'perm', 'write')) return true
  return !isAdministrator(rights) && findExcess(actor, rights.grants) === undefined
}

/** The first of these permissions that the actor does not hold itself. */
export function findExcess(actor: Actor, wanted: Grants): PermissionType | undefined {
  return permissionTypes.find((type) => {
    const access = wanted[type]
    return access !== undefined && !may(actor, type, access)
  })
}

/** A type listed twice gets the larger access; neither read nor write grants nothing. */
export function toGrants(permissions: readonly Permission[]): Grants {
  const grants: Partial<Record<PermissionType, Access>> = {}
  for (const { type, read, write } of permissions)
    if (write) grants[type] = 'write'
    else if (read) grants[type] ??= 'read'
  return grants
}

export function toPermissions(grants: Grants): Permission[] {
  return permissionTypes
    .map((type) => ({
      type,
      read: allows(grants, type, 'read'),
      write: allows(grants, type, 'write'),
    }))
    .filter(({ read }) => read)
}

export function isSameGrants(one: Grants, other: Grants): boolean {
  return permissionTypes.every((type) => one[type] === other[type])
}

export function isPermissionType(text: string): text is PermissionType {
  return permissionTypes.some((type) => type === text)
}

function allows(grants: Grants, type: PermissionType, access: Access): boolean {
  const grant = grants[type]
  return grant === 'write' || grant === access
}
