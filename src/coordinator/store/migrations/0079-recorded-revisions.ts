/** What an agent attempted last is shown as long as it is the last; whether its newest report is known is another question. */
import type { Migration } from './migration.js'

export const recordedRevisions: Migration = {
  name: '0079-recorded-revisions',
  statements: ({ integer }) => [
    `alter table agents add column "recordedRevision" ${integer}`,
    `update agents set "recordedRevision" = "attemptedRevision" where "attemptedResult" = 'applied'`,
  ],
}
