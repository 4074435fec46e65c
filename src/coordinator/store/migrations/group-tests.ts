/** Adds the VCL tests of groups. */
import type { Migration } from './migration.js'

export const groupTests: Migration = {
  name: '0009-group-tests',
  statements: ({ integer, tableOptions }) => [
    `create table "vclGroupTests" ("groupId" ${integer} not null references "vclGroups" on delete cascade, ` +
      `"fileId" ${integer} not null references "files", "position" ${integer} not null, ` +
      `primary key ("groupId", "fileId")) ${tableOptions}`,
    'create index "vclGroupTests_file" on "vclGroupTests" ("fileId")',
  ],
}
