/** What the console has beside what the controller has. */
import { flag, id, index, integer, nameIndexes, ofOwner, owner, table } from './table.js'
import { text, times, unique } from './table.js'

export const consoleTables = {
  /** An account in the console where it is not an administrator: its role there, and the groups it is for. */
  consoleUsers: table(
    {
      id: id(),
      /** Null: for groups of the system administrator. */
      organizationId: owner('cascade'),
      accountId: integer().references('accounts', 'cascade'),
      role: text<'User' | 'ReadOnly'>(),
      ...times,
    },
    {
      indexes: { place: unique('accountId', ofOwner), organization: index('organizationId') },
    },
  ),

  consoleUserGroups: table(
    {
      consoleUserId: integer().references('consoleUsers', 'cascade'),
      groupId: integer().references('vclGroups', 'cascade'),
    },
    { primaryKey: ['consoleUserId', 'groupId'], indexes: { group: index('groupId') } },
  ),

  paramSets: table(
    {
      id: id(),
      organizationId: owner(),
      name: text(),
      description: text(),
      /** JSON of parameters' values by name. */
      params: text(),
      ...times,
    },
    { indexes: { name: nameIndexes.name } },
  ),

  /** What a VCL group with the mark `console` has beside its row there. Its caches are in `groupMembers`. */
  consoleGroups: table(
    {
      groupId: integer().references('vclGroups', 'cascade').primaryKey(),
      description: text(),
      /** Shown on the first page. */
      overviewGroup: flag(),
      /** Null: no parameter is the group's matter. */
      paramSetId: integer().references('paramSets').orNull(),
    },
    { indexes: { paramSet: index('paramSetId') } },
  ),
}
