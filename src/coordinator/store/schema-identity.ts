/** The tables of who may do what, and who did: organizations, accounts, users, sessions, keys, the
 * api log. Forms as in `schema.ts`, which lists all tables. */
import type { Generated } from 'kysely'

type Flag = 0 | 1

/** One row: who this coordinator is, kept for the life of the store. */
export interface SettingsTable {
  name: string
  value: string
}

export interface OrganizationsTable {
  id: Generated<number>
  name: string
  accessTtlSeconds: number
  refreshTtlSeconds: number
  locked: Flag
  /** JSON of GivenQuotas; null: all as by default. */
  quotas: string | null
  /** Of all versions of its files, as they are kept. */
  fileBytes: Generated<number>
  createdAt: number
  updatedAt: number
}

export interface AccountsTable {
  id: Generated<number>
  name: string
  /** argon2id, in its own encoding. */
  passwordHash: string
  email: string
  locked: Flag
  systemAdministrator: Flag
  /** Whose administrators made it; it is theirs to see as long as it is a user of none. */
  organizationId: number | null
  createdAt: number
  updatedAt: number
}

/** An account in an organization. */
export interface UsersTable {
  id: Generated<number>
  organizationId: number
  accountId: number
  role: 'administrator' | 'regular'
  createdAt: number
  updatedAt: number
}

/** What a user may do with objects of a type: read, or write as well. */
export interface PermissionsTable {
  id: Generated<number>
  organizationId: number
  accountId: number
  type: string
  write: Flag
  createdAt: number
  updatedAt: number
}

export interface SessionsTable {
  id: Generated<number>
  accountId: number
  organizationId: number | null
  label: string
  /** Of an API token what it was made for (JSON of Grants); null: a login. */
  limits: string | null
  /** SHA-256 (hex) of the refresh token in force. */
  refreshDigest: string
  createdAt: number
  lastUsedAt: number
  accessExpiresAt: number
  refreshExpiresAt: number
}

export interface SigningKeysTable {
  /** Key id in the JWT header. */
  kid: string
  /** JWK (JSON). */
  publicJwk: string
  /** Private JWK, sealed with the secret key. */
  sealedPrivateJwk: string
  createdAt: number
}

export interface JoinTokensTable {
  id: Generated<number>
  organizationId: number | null
  label: string
  digest: string
  expiresAt: number | null
  maxUses: number
  uses: number
  /** Assigned to each agent that enrols: JSON array of tag ids. */
  tagIds: string
  createdAt: number
}

/** Who did what, and how it ended. */
export interface ApiLogsTable {
  id: Generated<number>
  organizationId: number | null
  createdAt: number
  severity: number
  msg: string
  keyType: string
  keyId: number | null
  traceId: string
  account: string
  method: string
  path: string
  status: number
  /** A plan, a preview, a check: nothing was to change. */
  asksOnly: Generated<0 | 1>
}
