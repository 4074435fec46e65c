/** `/sessions`: logins and API tokens that live. */
import type { Reference, Whoami } from './whoami.js'

export interface Session {
  readonly id: number
  readonly account: Reference
  /** Null: of the system administrator. */
  readonly organization: Reference | null
  /** Empty: a login. */
  readonly label: string
  /** Of an API token, the most it may; null: a login. */
  readonly permissions: Whoami['permissions'] | null
  readonly created: string
  readonly lastUsed: string
  /** Seconds since 1970. */
  readonly accessExpire: number
  /** Null: it cannot be refreshed. */
  readonly refreshExpire: number | null
}

/** Answered once, when it is made. */
export interface MadeApiToken {
  readonly id: number
  readonly label: string
  readonly accessToken: string
  /** Seconds since 1970. */
  readonly accessExpire: number
}
