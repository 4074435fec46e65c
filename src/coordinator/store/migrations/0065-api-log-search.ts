/** Finds a trace in the api log, in the whole of it or an organization's; tells calls that only asked from those that were to change something. */
import type { Migration } from './migration.js'

export const apiLogSearch: Migration = {
  name: '0065-api-log-search',
  statements: ({ integer }) => [
    // Both in one: SQLite, which knows nothing of what is in the table, would read all of the organization's instead.
    `create index "apiLogs_trace" on "apiLogs" ("traceId", "organizationId", id)`,
    `alter table "apiLogs" add column "asksOnly" ${integer} not null default 0`,
  ],
}
