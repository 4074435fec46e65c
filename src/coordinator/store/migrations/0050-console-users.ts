/** What an account may do in the console, where it is no administrator: its role there, and the groups it is for. */
import type { Migration } from './migration.js'

export const consoleUserTables: Migration = {
  name: '0050-console-users',
  statements: ({ id, integer, text, tableOptions }) => [
    // Without an organization: for groups of the system administrator.
    `create table "consoleUsers" (
      id ${id},
      "organizationId" ${integer} references organizations on delete cascade,
      "accountId" ${integer} not null references accounts on delete cascade,
      role ${text} not null,
      "createdAt" ${integer} not null,
      "updatedAt" ${integer} not null) ${tableOptions}`,
    `create unique index "consoleUsers_place"
      on "consoleUsers" ("accountId", coalesce("organizationId", 0))`,
    `create index "consoleUsers_organization" on "consoleUsers" ("organizationId")`,
    `create table "consoleUserGroups" (
      "consoleUserId" ${integer} not null references "consoleUsers" on delete cascade,
      "groupId" ${integer} not null references "vclGroups" on delete cascade,
      primary key ("consoleUserId", "groupId")) ${tableOptions}`,
    `create index "consoleUserGroups_group" on "consoleUserGroups" ("groupId")`,
  ],
}
