/** What the console shows of a cache beside what the controller does, and what people write there. */
import type { Migration } from './migration.js'

export const consoleCacheColumns: Migration = {
  name: '0051-console-caches',
  statements: ({ text }) => [
    `alter table agents add column "engineRevision" ${text} not null default ''`,
    `alter table agents add column "hostName" ${text} not null default ''`,
    `alter table agents add column "consoleName" ${text}`,
    `alter table agents add column description ${text} not null default ''`,
  ],
}
