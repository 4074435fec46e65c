/** Adds a table for the heartbeats that change nothing. */
import type { Migration } from './migration.js'

export const heartbeats: Migration = {
  name: '0011-heartbeats',
  statements: ({ integer, tableOptions }) => [
    `create table "heartbeats" ("agentId" ${integer} not null references "agents" on delete cascade primary key, ` +
      `"at" ${integer} not null) ${tableOptions}`,
    // A coordinator of an earlier version that still runs would mark agents Down whose heartbeats are only in this table: the
    // lease under which it does so is never free again.
    `insert into leases (name, holder, epoch, "expiresAt") values ('liveness', '', 1, ${Number.MAX_SAFE_INTEGER}) ` +
      `on conflict (name) do update set holder = '', "expiresAt" = excluded."expiresAt"`,
  ],
}
