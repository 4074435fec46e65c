/** `/accounts`: who may log in. */
import type { Reference } from './whoami.js'

export interface Account extends Reference {
  /** Empty: none. */
  readonly email: string
  readonly locked: boolean
  readonly systemAdministrator: boolean
  readonly organizations: readonly Reference[]
  readonly created: string
  readonly updated: string
}
