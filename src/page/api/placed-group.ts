/** `/vclgroups`: as much of a group as a cache's view needs. */
import type { Reference } from '../../resources/resource.js'

export interface PlacedGroup extends Reference {
  readonly root: boolean
  readonly stateName: string
  readonly revision: number
  readonly agentStates: readonly {
    readonly agent: Reference
    /** wanted, applying, applied or failed */
    readonly state: string
    readonly revision: number | null
    readonly error: string | null
  }[]
}
