/** `/agents`: one for each cache. */
import type { Reference } from './whoami.js'

export interface Agent extends Reference {
  readonly organization: Reference | null
  readonly state: 1 | 2 | 3 | 4 | 5
  readonly stateName: string
  readonly lockedBecause: string | null
  /** Null: the agent is Down, and `lastEngineState` says what it told last. */
  readonly engineState: string | null
  readonly lastEngineState: string | null
  readonly engineError: string | null
  readonly engineHost: string
  readonly enginePort: number
  readonly engineVersion: string
  readonly agentVersion: string
  readonly tags: readonly (Reference & { readonly static: boolean })[]
  readonly config: {
    readonly desired: { readonly revision: number | null }
    readonly lastAttempted: {
      readonly revision: number | null
      readonly result: string | null
      readonly error: string | null
      readonly at: string | null
    }
    readonly effective: { readonly revision: number | null }
    /** What an unlock would change; null in lists, when it is not locked, or when that is not known. */
    readonly difference: UnlockDifference | null
  }
  readonly drift: {
    readonly at: string
    readonly foreign: readonly string[]
    readonly action: string
    readonly healedAt: string | null
  } | null
  readonly adoption: {
    readonly at: string
    readonly result: 'adopted' | 'refused'
    readonly error: string | null
    readonly group: Reference | null
    /** Its text against the group's that it was to join; null in lists. */
    readonly difference: string | null
  } | null
  readonly lastHeartbeat: string
  readonly lastStateChange: string
  readonly created: string
  readonly updated: string
}

export interface UnlockDifference {
  readonly use: string | null
  readonly load: readonly string[]
  readonly labels: readonly { readonly label: string; readonly program: string }[]
  readonly discard: readonly string[]
  readonly params: readonly { readonly name: string; readonly value: string | null }[]
  readonly backends: readonly { readonly name: string; readonly health: string }[]
  readonly omitted: number
}
