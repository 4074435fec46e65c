/**
 * How much an organization may have, as JSON of what differs from the defaults. What its file versions take in bytes is kept as a
 * sum: adding them up would read all of their texts.
 */
import { makeStatementWriters, type Migration } from './migration.js'

export const quotaColumns: Migration = {
  name: '0074-quotas',
  statements: (dialect) => {
    const { integer, text } = dialect
    const { index } = makeStatementWriters(dialect)
    return [
      `alter table organizations add column quotas ${text}`,
      `alter table organizations add column "fileBytes" ${integer} not null default 0`,
      `alter table "fileVersions" add column bytes ${integer} not null default 0`,
      `update "fileVersions" set bytes = octet_length(source)`,
      // Without it the texts of a file's versions are read to find their sizes behind them.
      index('fileVersions_bytes', '"fileVersions" ("fileId", bytes)'),
      `update organizations set "fileBytes" = (select coalesce(sum(bytes), 0)
        from "fileVersions" where "fileVersions"."organizationId" = organizations.id)`,
      index('accounts_organization', 'accounts ("organizationId")'),
      `create index "invalidations_open_organization" on invalidations ("organizationId") where outcome is null`,
    ]
  },
}
