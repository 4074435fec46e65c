/** What the decision about places is made from (`placement/placement.ts`). */
import type { AgentIndex } from './agent-index.js'
import type { PlacementTarget } from './placement-target.js'

export interface PlacementDeployment {
  readonly id: number
  readonly min: number
  readonly max: number
  readonly target: PlacementTarget
}

/** Of a stage's places, and of those of a group whose agents are named one by one: no deployment has this id. */
export const noDeployment = 0

/** For a group, or its stage, that goes to every agent that fits, and needs one. */
export function placeEverywhere(target: PlacementTarget): PlacementDeployment {
  return { id: noDeployment, min: 1, max: Number.MAX_SAFE_INTEGER, target }
}

export interface PlacementGroup {
  readonly id: number
  readonly root: boolean
  /** What it answers for; none of a root group. */
  readonly fqdns?: readonly string[]
  /** Of the cache, that it may go to; null, or left out: any. */
  readonly releases?: readonly string[] | null
  readonly deployments: readonly PlacementDeployment[]
  /** Where this one is, it makes way: the stage that is promoted. */
  readonly supersedes?: number | undefined
  /** Those whose places it may take, where too few agents are free: they make way for it (`holderId`). */
  readonly replaces?: ReadonlySet<number> | undefined
  /** Never on an agent with this one, whatever domains they have: a stage and its group. */
  readonly apartFrom?: number | undefined
}

export interface Place {
  readonly agentId: number
  readonly deploymentId: number
  /** Order of placement in the group; the highest leaves first. */
  readonly position: number
}

export interface PlacementInput {
  readonly group: PlacementGroup
  readonly agents: AgentIndex
  readonly placed: readonly Place[]
  /** Passed over: not placed, and those that are placed are neither counted nor touched. */
  readonly exclude?: ReadonlySet<number> | undefined
  /**
   * Placed agents where what is wanted did not load: they keep what they serve, and others fill their places up to max
   * (docs/behaviour.md, Deploy). They count again where nobody else is there.
   */
  readonly failed?: ReadonlySet<number> | undefined
  /** Down agents that keep their places: it is not known yet what they went with, or more than half of the fleet did. */
  readonly keepDown?: ReadonlySet<number> | undefined
  /** Placed agents that serve what they should: places of draining agents go once others do. Left out: nobody is known to. */
  readonly serving?: ReadonlySet<number> | undefined
  /** For reasons: the name of a group or stage that the reader may know of, by `holderId`. */
  readonly nameOf?: ((holder: number) => string | undefined) | undefined
}

/** The place of a group, or of a stage (`holderId`), on an agent. */
export interface HeldPlacement {
  readonly agentId: number
  readonly holder: number
}
