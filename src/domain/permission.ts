/** May this actor do this here: the permission types and the two questions (choices: 2). */

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
] as const
export type PermissionType = (typeof permissionTypes)[number]
export type Access = 'read' | 'write'

/** What one account may do in one organization; write implies read. */
export type Grants = Readonly<Partial<Record<PermissionType, Access>>>

/** Who is asking. */
export interface Actor {
  readonly accountId: number
  readonly accountName: string
  readonly sessionId: number
  /** Null: the system administrator, who belongs to no organization and sees all. */
  readonly organizationId: number | null
  readonly role: 'system' | 'administrator' | 'regular'
  readonly grants: Grants
}

export function may(actor: Actor, type: PermissionType, access: Access): boolean {
  if (actor.role !== 'regular') return true
  const grant = actor.grants[type]
  return grant === 'write' || grant === access
}
