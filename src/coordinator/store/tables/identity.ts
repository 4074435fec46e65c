/** Who may do what, and who did: organizations, accounts, users, sessions, keys, identity providers, the api log. */
import { flag, id, index, integer, owner, table, text, times } from './table.js'

const ofOrganization = () => integer().references('organizations', 'cascade')
const ofAccount = () => integer().references('accounts', 'cascade')

export const identityTables = {
  /** What the store itself remembers of its coordinators. */
  settings: table({ name: text().primaryKey(), value: text() }),

  organizations: table({
    id: id(),
    name: text().unique(),
    accessTtlSeconds: integer(),
    refreshTtlSeconds: integer(),
    locked: flag(),
    /** JSON of GivenQuotas; null: all as by default. */
    quotas: text().orNull(),
    /** Of all versions of its files, as they are kept: adding them up would read all of their texts. */
    fileBytes: integer().default(0),
    /** JSON of FreezeRecord; null: its groups may be deployed. */
    frozen: text().orNull(),
    ...times,
  }),

  accounts: table(
    {
      id: id(),
      name: text().unique(),
      /** argon2id, in its own encoding. */
      passwordHash: text(),
      email: text(),
      locked: flag(),
      systemAdministrator: flag(),
      /** Whose administrators made it; it is theirs to see as long as it is a user of none. */
      organizationId: owner('set null'),
      ...times,
    },
    { indexes: { organization: index('organizationId') } },
  ),

  /** An account in an organization. */
  users: table(
    {
      id: id(),
      organizationId: ofOrganization(),
      accountId: ofAccount(),
      role: text<'administrator' | 'regular'>(),
      ...times,
    },
    {
      constraints: ['unique ("organizationId", "accountId")'],
      indexes: { account: index('accountId') },
    },
  ),

  /** What a user may do with objects of a type: read, or write as well. */
  permissions: table(
    {
      id: id(),
      organizationId: integer(),
      accountId: integer(),
      type: text(),
      write: flag(),
      ...times,
    },
    {
      constraints: [
        'unique ("organizationId", "accountId", type)',
        // Whoever leaves an organization leaves its permissions behind.
        `foreign key ("organizationId", "accountId")
          references users ("organizationId", "accountId") on delete cascade`,
      ],
    },
  ),

  sessions: table(
    {
      id: id(),
      accountId: ofAccount(),
      organizationId: owner('cascade'),
      label: text(),
      /** Of an API token what it was made for (JSON of Grants); null: a login. */
      limits: text().orNull(),
      /** SHA-256 (hex) of the refresh token in force. */
      refreshDigest: text().unique(),
      createdAt: integer(),
      lastUsedAt: integer(),
      accessExpiresAt: integer(),
      refreshExpiresAt: integer(),
    },
    {
      indexes: {
        account: index('accountId'),
        organization: index('organizationId'),
        expiry: index('refreshExpiresAt'),
      },
    },
  ),

  signingKeys: table({
    /** Key id in the JWT header. */
    kid: text().primaryKey(),
    /** JWK (JSON). */
    publicJwk: text(),
    /** Private JWK, sealed with the secret key. */
    sealedPrivateJwk: text(),
    createdAt: integer(),
  }),

  joinTokens: table(
    {
      id: id(),
      organizationId: owner('cascade'),
      label: text(),
      digest: text().unique(),
      expiresAt: integer().orNull(),
      maxUses: integer(),
      uses: integer(),
      /** Assigned to each agent that enrols: JSON array of tag ids. */
      tagIds: text(),
      createdAt: integer(),
    },
    { indexes: { organization: index('organizationId') } },
  ),

  /** An organization's way to log in elsewhere: one each, for its name alone leads to it. */
  idps: table({
    id: id(),
    organizationId: ofOrganization().unique(),
    baseUrl: text(),
    clientId: text(),
    /** Sealed with the secret key; null: a client without one. */
    sealedClientSecret: text().orNull(),
    /** JSON array of text. */
    scopes: text(),
    /** Empty: nothing is mapped. */
    roleClaim: text(),
    ...times,
  }),

  /** Who an account is at a provider; kept when the organization's settings for the provider change or go. */
  idpSubjects: table(
    { organizationId: ofOrganization(), issuer: text(), subject: text(), accountId: ofAccount() },
    {
      primaryKey: ['organizationId', 'issuer', 'subject'],
      indexes: { account: index('accountId') },
    },
  ),

  /** Logins that a browser has finished and that wait for who began them. */
  loginCodes: table(
    {
      /** SHA-256 (hex) of the code. */
      digest: text().primaryKey(),
      organizationId: ofOrganization(),
      accountId: ofAccount(),
      expiresAt: integer(),
    },
    { indexes: { expiry: index('expiresAt') } },
  ),

  /** States that a callback has brought, as long as their cookies would be valid. */
  usedLoginStates: table(
    {
      /** SHA-256 (hex) of the state. */
      digest: text().primaryKey(),
      expiresAt: integer(),
    },
    { indexes: { expiry: index('expiresAt') } },
  ),

  /** Who did what, and how it ended. Without references: the log outlives what it tells of. */
  apiLogs: table(
    {
      id: id(),
      organizationId: integer().orNull(),
      createdAt: integer(),
      severity: integer(),
      msg: text(),
      keyType: text(),
      keyId: integer().orNull(),
      traceId: text(),
      account: text(),
      method: text(),
      path: text(),
      status: integer(),
      /** A plan, a preview, a check: nothing was to change. */
      asksOnly: flag().default(0),
    },
    {
      indexes: {
        createdAt: index('createdAt'),
        organization: index('organizationId', 'id'),
        /** Both in one: SQLite, which knows nothing of what is in the table, would read all of the organization's instead. */
        trace: index('traceId', 'organizationId', 'id'),
        /** For the console's users that are for some groups and caches only. */
        key: index('keyType', 'keyId', 'id'),
      },
    },
  ),
}
