/** Data that only the console has, in addition to the controller's. */
import { flag, id, index, integer, nameIndexes, ofOwner, owner, table } from './table.js'
import { text, times, unique } from './table.js'

export const consoleTables = {
  /** A console user who is not an administrator: the account, its role there and its groups. */
  consoleUsers: table(
    {
      id: id(),
      /** Null: for the system administrator's groups. */
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
      /** JSON of parameter values by name. */
      params: text(),
      ...times,
    },
    { indexes: { name: nameIndexes.name } },
  ),

  /** Additional columns of a VCL group with the mark `console`. Its caches are in `groupMembers`. */
  consoleGroups: table(
    {
      groupId: integer().references('vclGroups', 'cascade').primaryKey(),
      description: text(),
      /** Shown on the first page. */
      overviewGroup: flag(),
      /** Null: the group sets no parameters. */
      paramSetId: integer().references('paramSets').orNull(),
    },
    { indexes: { paramSet: index('paramSetId') } },
  ),
}
