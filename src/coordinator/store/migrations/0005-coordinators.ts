/** Several coordinators: leases of duties, owners of deploys, and which link of an agent counts. */
import type { Migration } from './migration.js'

export const coordinatorTables: Migration = {
  name: '0005-coordinators',
  statements: ({ integer, text, tableOptions }) => [
    `create table leases (name ${text} not null primary key, holder ${text} not null,
      epoch ${integer} not null, "expiresAt" ${integer} not null) ${tableOptions}`,
    // Of nobody, and long over: whoever comes first takes what an earlier version left.
    `alter table deploys add column owner ${text} not null default ''`,
    `alter table deploys add column epoch ${integer} not null default 0`,
    `alter table deploys add column "leaseExpiresAt" ${integer} not null default 0`,
    `alter table agents add column "linkId" ${text}`,
  ],
}
