/** `/domains`: names that groups answer for. */
import type { Reference } from './whoami.js'

export interface Domain {
  readonly id: number
  /** `*.` before it: all names below. */
  readonly fqdn: string
  readonly organization: Reference | null
  readonly managedBy: string | null
  readonly created: string
  readonly updated: string
}
