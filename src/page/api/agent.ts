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
  } | null
  readonly lastHeartbeat: string
  readonly lastStateChange: string
  readonly created: string
  readonly updated: string
}
