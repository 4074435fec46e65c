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

/** What a VCL group with the mark `console` has beside its row there. Its caches bear the tag that is marked with its id. */
export interface ConsoleGroupsTable {
  groupId: number
  description: string
  /** Shown on the first page. */
  overviewGroup: 0 | 1
  /** Null: no parameter is the group's matter. */
  paramSetId: number | null
}

export interface ParamSetsTable {
  id: Generated<number>
  organizationId: number | null
  name: string
  description: string
  /** JSON of parameters' values by name. */
  params: string
  createdAt: number
  updatedAt: number
}

export interface ConsoleTables {
  consoleUsers: ConsoleUsersTable
  consoleUserGroups: ConsoleUserGroupsTable
  consoleGroups: ConsoleGroupsTable
  paramSets: ParamSetsTable
}
