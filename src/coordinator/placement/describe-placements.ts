/** Describes each placement that a group would have, for the response to a plan. Pure. */
import type { AgentIndex } from '../fleet/agent-index.js'
import type { Place } from '../fleet/placement-input.js'
import type { NamedDeployment } from '../fleet/target-queries.js'
import type { PlacementDecision } from './placement.js'
import { waitingReason } from './placement-reasons.js'
import type { PlannedPlacement } from './plan-schemas.js'

interface Names {
  readonly agents: AgentIndex
  /** The names of agents, by id. */
  readonly names: ReadonlyMap<number, string>
  /** The name of a group that makes way, by `holderId`. */
  readonly nameOf: (holder: number) => string | undefined
}

/** Returns the placements that serve or will serve, then those that wait for their agents, then those that are removed. */
export function describePlacements(
  { keep, add, waiting, remove, replaced }: PlacementDecision,
  deployments: readonly Pick<NamedDeployment, 'id' | 'name'>[],
  { agents, names, nameOf }: Names,
): PlannedPlacement[] {
  const titles = new Map(deployments.map(({ id, name }) => [id, name]))
  const describe = (place: Place, held: boolean): PlannedPlacement => ({
    agent: { id: place.agentId, name: names.get(place.agentId) ?? '' },
    deployment: titles.get(place.deploymentId) ?? null,
    held,
    waiting: false,
    reason: null,
    replaces: replaced
      .filter(({ agentId }) => agentId === place.agentId)
      .map(({ holder }) => ({ id: holder, name: nameOf(holder) ?? '' })),
  })
  return [
    ...keep.map((place) => describe(place, true)),
    ...add.map((place) => describe(place, false)),
    ...waiting.map((place) => ({
      ...describe(place, true),
      waiting: true,
      reason: waitingReason(agents.byId.get(place.agentId)),
    })),
    ...remove.map((place) => ({
      ...describe(place, true),
      deployment: null,
      reason: place.reason,
    })),
  ]
}
