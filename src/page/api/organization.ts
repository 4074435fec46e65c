/** `/organizations`: separate owners of objects. */
import type { Reference } from './whoami.js'

export interface Organization extends Reference {
  /** Lifetimes of its tokens, seconds. */
  readonly accessTTL: number
  readonly refreshTTL: number
  readonly locked: boolean
  readonly created: string
  readonly updated: string
}
