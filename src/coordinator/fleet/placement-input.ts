/** The input of placement decisions (`placement/placement.ts`). */
import type { AgentIndex } from './agent-index.js'
import type { PlacementTarget } from './placement-target.js'

export interface PlacementDeployment {
  readonly id: number
  readonly min: number
  readonly max: number
  readonly target: PlacementTarget
}

/** For placements of a stage, or of a group whose agents are named individually: no deployment has this id. */
export const noDeployment = 0

/** For a group or stage that is placed on every agent that fits and needs at least one. */
export function placeEverywhere(target: PlacementTarget): PlacementDeployment {
  return { id: noDeployment, min: 1, max: Number.MAX_SAFE_INTEGER, target }
}

export interface PlacementGroup {
  readonly id: number
  readonly root: boolean
  /** The domains that it serves; none for a root group. */
  readonly fqdns?: readonly string[]
  /** Cache releases that it may be placed on; null or omitted: any. */
  readonly releases?: readonly string[] | null
  readonly deployments: readonly PlacementDeployment[]
  /** The holder that this group displaces where it is placed: the promoted stage. */
  readonly supersedes?: number | undefined
  /** Groups and stages (`holderId`) whose placements it may take over if too few agents are free. */
  readonly replaces?: ReadonlySet<number> | undefined
  /** Holder that it never shares an agent with, whatever their domains: a stage and its group. */
  readonly apartFrom?: number | undefined
}

export interface Place {
  readonly agentId: number
  readonly deploymentId: number
  /** Order of placement in the group; the highest is removed first. */
  readonly position: number
}

export interface PlacementInput {
  readonly group: PlacementGroup
  readonly agents: AgentIndex
  readonly placed: readonly Place[]
  /** Agents passed over: nothing new is placed there, and existing placements are neither counted nor changed. */
  readonly exclude?: ReadonlySet<number> | undefined
  /**
   * Placed agents where the desired VCL did not load: they keep their serving VCL, and other agents fill in for them up to
   * max (docs/behaviour.md, Deploy). They count again if no other agent is available.
   */
  readonly failed?: ReadonlySet<number> | undefined
  /** Down agents that keep their placements: the extent of the outage is not known yet, or it is over half of the fleet. */
  readonly keepDown?: ReadonlySet<number> | undefined
  /** Placed agents that serve the desired VCL: placements of draining agents end once others serve. Omitted: none are known to. */
  readonly serving?: ReadonlySet<number> | undefined
  /** For messages: the name of a group or stage that the reader may see, by `holderId`. */
  readonly nameOf?: ((holder: number) => string | undefined) | undefined
}

/** The placement of a group or a stage (`holderId`) on an agent. */
export interface HeldPlacement {
  readonly agentId: number
  readonly holder: number
}
