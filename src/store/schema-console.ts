/** The tables of the console. Forms as in `schema.ts`, which lists all tables. */
import type { Generated } from 'kysely'

/** An account in the console where it is no administrator. */
export interface ConsoleUsersTable {
  id: Generated<number>
  /** Null: for groups of the system administrator. */
  organizationId: number | null
  accountId: number
  role: 'User' | 'ReadOnly'
  createdAt: number
  updatedAt: number
}

export interface ConsoleUserGroupsTable {
  consoleUserId: number
  groupId: number
}

export interface ConsoleTables {
  consoleUsers: ConsoleUsersTable
  consoleUserGroups: ConsoleUserGroupsTable
}
