/** Adds current problems, stored so that they can be listed, counted and published. */
import type { Migration } from './migration.js'

export const problems: Migration = {
  name: '0004-problems',
  statements: ({ integer, text, tableOptions }) => [
    `create table "openProblems" ("objectType" ${text} not null, "objectId" ${integer} not null, "code" ${text} not null, ` +
      `"organizationId" ${integer}, "objectName" ${text} not null, "severity" ${integer} not null, "since" ${integer} not null, ` +
      `"data" ${text} not null, "sharedData" ${text}, "seenAt" ${integer} not null, "told" ${integer} not null, ` +
      `"endedAt" ${integer}, primary key ("objectType", "objectId", "code")) ${tableOptions}`,
    'create index "openProblems_worst" on "openProblems" ("severity", "since") where "endedAt" is null',
    'create index "openProblems_untold" on "openProblems" ("seenAt") where told = 0 or "endedAt" is not null',
    `create table "problemChecks" ("objectType" ${text} not null, "objectId" ${integer} not null, ` +
      `primary key ("objectType", "objectId")) ${tableOptions}`,
  ],
}
