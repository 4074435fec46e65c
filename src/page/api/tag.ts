/** `/tags`: words on agents. */
import type { Reference } from './whoami.js'

export interface Tag extends Reference {
  readonly organization: Reference | null
  /** An agent sends it. */
  readonly static: boolean
  readonly managedBy: string | null
  readonly created: string
  readonly updated: string
}
