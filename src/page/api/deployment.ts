/** `/deployments`: which agents groups are placed on, and how many. */
import type { Reference } from '../../resources/resource.js'

export interface Deployment extends Reference {
  readonly organization: Reference | null
  readonly min: number
  readonly max: number
  readonly tags: readonly Reference[]
  readonly state: number
  readonly stateName: string
  /** Where groups are placed by it. */
  readonly agents: readonly Reference[]
  readonly managedBy: string | null
  readonly created: string
  readonly updated: string
}
