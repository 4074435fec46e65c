/** Entries that go on, by who is to do them: ended ones stay for days, and must not be passed at each report. */
import { makeStatementWriters, type Migration } from './migration.js'

export const openInvalidations: Migration = {
  name: '0042-open-invalidations',
  statements: (dialect) => [
    `drop index "invalidations_attempt"`,
    makeStatementWriters(dialect).index('invalidations_attempt', 'invalidations ("attemptSetId")'),
    `create index "invalidations_open_attempt" on invalidations ("attemptSetId", position) where outcome is null`,
  ],
}
