/** The tables of logins by identity providers. Forms as in `schema.ts`, which lists all tables. */
import type { Generated } from 'kysely'

/** An organization's way to log in elsewhere: one each. */
export interface IdpsTable {
  id: Generated<number>
  organizationId: number
  baseUrl: string
  clientId: string
  /** Sealed with the secret key; null: a client without one. */
  sealedClientSecret: string | null
  /** JSON array of text. */
  scopes: string
  /** Empty: nothing is mapped. */
  roleClaim: string
  createdAt: number
  updatedAt: number
}

/** Who an account is at a provider; kept when the organization's settings for the provider change or go. */
export interface IdpSubjectsTable {
  organizationId: number
  issuer: string
  subject: string
  accountId: number
}

/** Logins that a browser has finished and that wait for who began them. */
export interface LoginCodesTable {
  /** SHA-256 (hex) of the code. */
  digest: string
  organizationId: number
  accountId: number
  expiresAt: number
}

/** States that a callback has brought, as long as their cookies would be valid. */
export interface UsedLoginStatesTable {
  /** SHA-256 (hex) of the state. */
  digest: string
  expiresAt: number
}
