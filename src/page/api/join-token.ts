/** `/jointokens`: what lets new agents in. */
import type { Reference } from './whoami.js'

export interface JoinToken {
  readonly id: number
  readonly label: string
  /** Null: it enrols agents that all organizations share. */
  readonly organization: Reference | null
  /** Seconds since 1970; null: never. */
  readonly expires: number | null
  readonly maxUses: number
  readonly uses: number
  readonly tags: readonly Reference[]
  readonly created: string
}

/** Answered once, when it is made. */
export interface MadeJoinToken extends JoinToken {
  readonly token: string
}
