/** Where an account may enter the console, and in which role: everything that its login depends on, in two queries. */
import type { OrganizationRole } from '../../../resources/permission.js'
import type { Queries } from '../../store/store.js'

/** An organization that the account is in, by the controller or by the console; null is none: the system's own groups. */
export interface OrganizationAccess {
  readonly organizationId: number | null
  readonly organizationName: string | null
  readonly locked: boolean
  /** Its role as a user of the controller; null: not a user there. */
  readonly role: OrganizationRole | null
  /** Null: no role assigned. */
  readonly consoleRole: 'User' | 'ReadOnly' | null
  /** Assigned groups, by id. */
  readonly groupIds: readonly number[]
}

export async function readOrganizationAccess(
  queries: Queries,
  accountId: number,
): Promise<OrganizationAccess[]> {
  const [users, consoleUsers] = await Promise.all([
    queries
      .selectFrom('users')
      .innerJoin('organizations', 'organizations.id', 'users.organizationId')
      .select(['organizations.id', 'organizations.name', 'organizations.locked', 'users.role'])
      .where('users.accountId', '=', accountId)
      .execute(),
    queries
      .selectFrom('consoleUsers')
      .leftJoin('organizations', 'organizations.id', 'consoleUsers.organizationId')
      .leftJoin('consoleUserGroups', 'consoleUserGroups.consoleUserId', 'consoleUsers.id')
      .select([
        'consoleUsers.organizationId as id',
        'organizations.name',
        'organizations.locked',
        'consoleUsers.role',
        'consoleUserGroups.groupId',
      ])
      .where('consoleUsers.accountId', '=', accountId)
      .execute(),
  ])
  const ids = new Set([...users, ...consoleUsers].map(({ id }) => id))
  return [...ids].map((organizationId) => {
    const user = users.find(({ id }) => id === organizationId)
    const rows = consoleUsers.filter(({ id }) => id === organizationId)
    const named = user ?? rows[0]
    return {
      organizationId,
      organizationName: named?.name ?? null,
      locked: named?.locked === 1,
      role: user?.role ?? null,
      consoleRole: rows[0]?.role ?? null,
      groupIds: rows.flatMap(({ groupId }) => groupId ?? []),
    }
  })
}
