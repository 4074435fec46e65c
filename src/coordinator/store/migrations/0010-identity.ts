/** Who may do what in an organization: its users, their permissions, and what an API token was made for. */
import type { Migration } from './migration.js'

export const identityTables: Migration = {
  name: '0010-identity',
  statements: ({ id, integer, text, tableOptions }) => [
    // Of which organization's making it is; what the system administrator made is nobody's.
    `alter table accounts add column "organizationId" ${integer} references organizations on delete set null`,
    `create table users (
      id ${id},
      "organizationId" ${integer} not null references organizations on delete cascade,
      "accountId" ${integer} not null references accounts on delete cascade,
      role ${text} not null,
      "createdAt" ${integer} not null,
      "updatedAt" ${integer} not null,
      unique ("organizationId", "accountId")) ${tableOptions}`,
    `create index users_account on users ("accountId")`,
    // Whoever leaves an organization leaves its permissions behind.
    `create table permissions (
      id ${id},
      "organizationId" ${integer} not null,
      "accountId" ${integer} not null,
      type ${text} not null,
      "write" ${integer} not null,
      "createdAt" ${integer} not null,
      "updatedAt" ${integer} not null,
      unique ("organizationId", "accountId", type),
      foreign key ("organizationId", "accountId") references users ("organizationId", "accountId")
        on delete cascade) ${tableOptions}`,
    `alter table sessions add column limits ${text}`,
  ],
}
