/** `/idps`: where the people of an organization log in instead of here. */
import type { Reference } from './whoami.js'

export interface Idp {
  readonly id: number
  readonly organization: Reference
  readonly baseURL: string
  readonly clientID: string
  readonly scopes: readonly string[]
  /** Empty: nothing is mapped. */
  readonly roleClaim: string
  readonly created: string
  readonly updated: string
}
