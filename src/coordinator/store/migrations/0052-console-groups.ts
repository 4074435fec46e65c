/**
 * Groups of the console: VCL groups whose caches are named one by one. A group's hidden tag is borne by its caches, its
 * hidden deployment asks for that tag; both are marked by the group that they are for.
 */
import { noteDeleted, on } from './change-triggers.js'
import { makeStatementWriters, type Migration } from './migration.js'

export const consoleGroupTables: Migration = {
  name: '0052-console-groups',
  statements: (dialect) => {
    const { id, integer, text } = dialect
    const { table, index } = makeStatementWriters(dialect)
    return [
      `alter table "vclGroups" add column console ${integer} not null default 0`,

      // SQLite cannot take "not null" from a column, so it is made anew; no trigger (0020) and no key names it.
      `alter table "vclGroups" add column "mainFileIdAnew" ${integer} references files`,
      `update "vclGroups" set "mainFileIdAnew" = "mainFileId"`,
      `drop index "vclGroups_mainFile"`,
      `alter table "vclGroups" drop column "mainFileId"`,
      `alter table "vclGroups" rename column "mainFileIdAnew" to "mainFileId"`,
      index('vclGroups_mainFile', '"vclGroups" ("mainFileId")'),

      ...['tags', 'deployments'].flatMap((hidden) => [
        `alter table ${hidden} add column "groupId" ${integer} references "vclGroups" on delete cascade`,
        `create unique index "${hidden}_group" on ${hidden} ("groupId") where "groupId" is not null`,
        // A hidden one takes no name from people.
        `drop index "${hidden}_name"`,
        `create unique index "${hidden}_name" on ${hidden} (coalesce("organizationId", 0), name) where "groupId" is null`,
      ]),

      // Nobody was told of a hidden one.
      dialect.dropTrigger('deployments_delete'),
      ...dialect.trigger({
        ...on('deployments', 'delete'),
        when: 'old."groupId" is null',
        work: noteDeleted('deployment'),
      }),

      table(
        'paramSets',
        `id ${id}`,
        `"organizationId" ${integer} references organizations`,
        `name ${text} not null`,
        `description ${text} not null`,
        `params ${text} not null`,
        `"createdAt" ${integer} not null`,
        `"updatedAt" ${integer} not null`,
      ),
      `create unique index "paramSets_name" on "paramSets" (coalesce("organizationId", 0), name)`,

      table(
        'consoleGroups',
        `"groupId" ${integer} not null references "vclGroups" on delete cascade primary key`,
        `description ${text} not null`,
        `"overviewGroup" ${integer} not null`,
        `"paramSetId" ${integer} references "paramSets"`,
      ),
      index('consoleGroups_paramSet', '"consoleGroups" ("paramSetId")'),
    ]
  },
}
