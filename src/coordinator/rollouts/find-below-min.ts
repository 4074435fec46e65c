/** Finds a deployment that a rollout leaves with too few serving caches, whichever release they serve. Pure. */
import type { PlacementRecord } from '../fleet/placement-queries.js'

interface MinOfDeployment {
  readonly id: number
  readonly name: string | null
  readonly min: number
}

type CountedPlace = Pick<PlacementRecord, 'agentId' | 'deploymentId' | 'current' | 'state'>

/** Null: there is none. A deployment that had too few placements from the start is ignored. `placements`: of the group. */
export function findBelowMin(
  deployments: readonly MinOfDeployment[],
  placements: readonly CountedPlace[],
  isThere: (agentId: number) => boolean,
): string | null {
  for (const { id, name, min } of deployments) {
    const own = placements.filter(({ deploymentId }) => deploymentId === id)
    const serving = own.filter((place) => isServing(place) && isThere(place.agentId)).length
    if (own.length >= min && serving < min)
      return `deployment ${JSON.stringify(name)} has ${serving} of at least ${min} agents serving`
  }
  return null
}

export function isServing({ current, state }: Pick<PlacementRecord, 'current' | 'state'>): boolean {
  return current !== null && state !== 'failed'
}
