/** Where a group would be, place by place, as a plan answers it: values in, values out. */
import type { AgentIndex } from '../fleet/agent-index.js'
import type { Place } from '../fleet/placement-input.js'
import type { NamedDeployment } from '../fleet/target-queries.js'
import type { PlacementDecision } from './placement.js'
import { waitingReason } from './placement-reasons.js'
import type { PlannedPlacement } from './plan-schemas.js'

interface Names {
  readonly agents: AgentIndex
  /** Of agents, by id. */
  readonly names: ReadonlyMap<number, string>
  /** Of groups that make way, by `holderId`. */
  readonly nameOf: (holder: number) => string | undefined
}

/** Those that serve or will, then those that wait for their agents, then those that go. */
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
