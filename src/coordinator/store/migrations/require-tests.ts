/** Adds whether a group may be deployed if no agent can run its tests. */
import type { Migration } from './migration.js'

export const requireTests: Migration = {
  name: '0010-require-tests',
  statements: ({ integer }) => [
    `alter table "vclGroups" add column "requireTests" ${integer} not null default 0`,
  ],
}
