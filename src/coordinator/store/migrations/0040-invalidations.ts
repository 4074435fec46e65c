/** The invalidation log, whom its entries are for, and how far each agent is. */
import { makeStatementWriters, type Migration } from './migration.js'

export const invalidationTables: Migration = {
  name: '0040-invalidations',
  statements: (dialect) => {
    const { id, integer, text } = dialect
    const { table, index } = makeStatementWriters(dialect)
    return [
      table(
        'invalidationLog',
        `id ${integer} not null primary key`,
        `position ${integer} not null`,
      ),
      `insert into "invalidationLog" values (1, 0)`,
      table('invalidationSets', `id ${id}`, `digest ${text} not null unique`),
      table(
        'invalidationMembers',
        `"setId" ${integer} not null references "invalidationSets" on delete cascade`,
        `"agentId" ${integer} not null references agents on delete cascade`,
        `reach ${text} not null`,
        `primary key ("setId", "agentId")`,
      ),
      index('invalidationMembers_agent', '"invalidationMembers" ("agentId")'),
      table(
        'invalidationCursors',
        `"agentId" ${integer} not null primary key references agents on delete cascade`,
        `position ${integer} not null`,
        `"movedAt" ${integer} not null`,
        `trouble ${text}`,
      ),
      table(
        'invalidations',
        `id ${id}`,
        `"organizationId" ${integer} references organizations on delete cascade`,
        `position ${integer} not null unique`,
        `type ${text} not null`,
        `content ${text} not null`,
        `target ${text} not null`,
        `warnings ${text} not null`,
        `account ${text} not null`,
        `"traceId" ${text} not null`,
        `"ttlSeconds" ${integer} not null`,
        `"createdAt" ${integer} not null`,
        `"updatedAt" ${integer} not null`,
        `"expiresAt" ${integer} not null`,
        `"setId" ${integer} not null references "invalidationSets"`,
        `"attemptSetId" ${integer} not null references "invalidationSets"`,
        `outcome ${integer}`,
        `"finishedAt" ${integer}`,
        `failed ${integer} not null`,
        `exceptions ${text} not null`,
      ),
      index('invalidations_organization', 'invalidations ("organizationId")'),
      index('invalidations_set', 'invalidations ("setId")'),
      index('invalidations_attempt', 'invalidations ("attemptSetId", position)'),
      index('invalidations_finished', 'invalidations ("finishedAt")'),
      `create index "invalidations_open" on invalidations (position) where outcome is null`,
      `create index "invalidations_expiry" on invalidations ("expiresAt") where outcome is null`,
    ]
  },
}
