/** Authorization and audit: organizations, accounts, users, sessions, keys, identity providers, the API log. */
import { flag, id, index, integer, owner, table, text, times } from './table.js'

const ofOrganization = () => integer().references('organizations', 'cascade')
const ofAccount = () => integer().references('accounts', 'cascade')

export const identityTables = {
  /** Settings that the store keeps about its coordinators. */
  settings: table({ name: text().primaryKey(), value: text() }),

  organizations: table({
    id: id(),
    name: text().unique(),
    accessTtlSeconds: integer(),
    refreshTtlSeconds: integer(),
    locked: flag(),
    /** JSON of GivenQuotas; null: all defaults. */
    quotas: text().orNull(),
    /** Total size of all file versions as stored: computing it would read all of their texts. */
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
      /** The organization whose administrators created it; they see it as long as it is a user of no organization. */
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

  /** A user's permission on objects of a type: read, or read and write. */
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
        // A user who leaves an organization loses the permissions in it.
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
      /** The grants of an API token (JSON of Grants); null: a login. */
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

  /** An organization's identity provider: at most one, because logins find it by the organization's name alone. */
  idps: table({
    id: id(),
    organizationId: ofOrganization().unique(),
    baseUrl: text(),
    clientId: text(),
    /** Sealed with the secret key; null: a client without one. */
    sealedClientSecret: text().orNull(),
    /** JSON array of text. */
    scopes: text(),
    /** Empty: roles are not mapped. */
    roleClaim: text(),
    ...times,
  }),

  /** An account's subject at a provider; kept when the organization's provider settings change or are deleted. */
  idpSubjects: table(
    { organizationId: ofOrganization(), issuer: text(), subject: text(), accountId: ofAccount() },
    {
      primaryKey: ['organizationId', 'issuer', 'subject'],
      indexes: { account: index('accountId') },
    },
  ),

  /** Logins completed in a browser that wait for the client that started them. */
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

  /** States that a callback has already used, kept as long as their cookies would be valid. */
  usedLoginStates: table(
    {
      /** SHA-256 (hex) of the state. */
      digest: text().primaryKey(),
      expiresAt: integer(),
    },
    { indexes: { expiry: index('expiresAt') } },
  ),

  /** The API log: account, request and result. Without references: entries outlive the objects they name. */
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
      /** A plan, a preview or a check: the request changes nothing. */
      asksOnly: flag().default(0),
    },
    {
      indexes: {
        createdAt: index('createdAt'),
        organization: index('organizationId', 'id'),
        /** Both in one index: SQLite, without table statistics, would read all of the organization's entries instead. */
        trace: index('traceId', 'organizationId', 'id'),
        /** For console users who are limited to some groups and caches. */
        key: index('keyType', 'keyId', 'id'),
      },
    },
  ),
}
