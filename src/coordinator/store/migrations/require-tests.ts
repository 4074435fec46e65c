/** Whether a group is deployed where no agent can run its tests. */
import type { Migration } from './migration.js'

export const requireTests: Migration = {
  name: '0010-require-tests',
  statements: ({ integer }) => [
    `alter table "vclGroups" add column "requireTests" ${integer} not null default 0`,
  ],
}
