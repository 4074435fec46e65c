/** Identity providers of organizations, whose accounts came in by them, and what a login needs between its two steps. */
import type { Migration } from './migration.js'

export const identityProviderTables: Migration = {
  name: '0011-identity-providers',
  statements: ({ id, integer, text, tableOptions }) => {
    const owner = `"organizationId" ${integer} not null references organizations on delete cascade`
    return [
      // An organization has one: its name alone leads to it.
      `create table idps (
        id ${id},
        ${owner},
        "baseUrl" ${text} not null,
        "clientId" ${text} not null,
        "sealedClientSecret" ${text},
        scopes ${text} not null,
        "roleClaim" ${text} not null,
        "createdAt" ${integer} not null,
        "updatedAt" ${integer} not null,
        unique ("organizationId")) ${tableOptions}`,
      `create table "idpSubjects" (
        ${owner},
        issuer ${text} not null,
        subject ${text} not null,
        "accountId" ${integer} not null references accounts on delete cascade,
        primary key ("organizationId", issuer, subject)) ${tableOptions}`,
      `create index "idpSubjects_account" on "idpSubjects" ("accountId")`,
      `create table "loginCodes" (
        digest ${text} not null primary key,
        ${owner},
        "accountId" ${integer} not null references accounts on delete cascade,
        "expiresAt" ${integer} not null) ${tableOptions}`,
      `create index "loginCodes_expiry" on "loginCodes" ("expiresAt")`,
      `create table "usedLoginStates" (
        digest ${text} not null primary key,
        "expiresAt" ${integer} not null) ${tableOptions}`,
      `create index "usedLoginStates_expiry" on "usedLoginStates" ("expiresAt")`,
    ]
  },
}
