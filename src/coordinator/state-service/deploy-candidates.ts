/** Who loads what in phase one, and whether there is anything to do at all. Pure. */
import type { PlacementDecision } from '../../domain/placement.js'
import type { WishedSources } from '../../domain/vcl-group.js'
import type { DeployRecord } from '../../store/deploys.js'
import type { PlacementRecord } from '../../store/placements.js'
import { createPlacement } from './placing.js'

/** Every chosen agent serves these sources already, and nobody comes or goes. */
export function isInPlace(
  placements: readonly PlacementRecord[],
  decision: PlacementDecision,
  sources: WishedSources,
): boolean {
  if (decision.add.length > 0 || decision.remove.length > 0) return false
  if (decision.shortages.length > 0) return false
  const stays = [...decision.keep, ...decision.waiting]
  const kept = new Map(stays.map((place) => [place.agentId, place.deploymentId]))
  return placements.every(
    (placement) =>
      kept.get(placement.agentId) === placement.deploymentId &&
      placement.state === 'applied' &&
      placement.current?.name === sources.programName,
  )
}

/** The placements of phase one: those that stay with their candidate, and the new ones. Who is Down loads it on return. */
export function toCandidates(
  deploy: Omit<DeployRecord, 'id'>,
  placements: readonly PlacementRecord[],
  decision: PlacementDecision,
): PlacementRecord[] {
  const program = { name: deploy.sources.programName, sha: deploy.sources.sha }
  const before = new Map(placements.map((placement) => [placement.agentId, placement]))
  const stays = [...decision.keep, ...decision.waiting]
  const kept = stays.flatMap(({ agentId, deploymentId }, index): PlacementRecord[] => {
    const placement = before.get(agentId)
    if (!placement) return []
    const isThere = index < decision.keep.length
    const isServing =
      isThere && placement.state === 'applied' && placement.current?.name === program.name
    const candidateState = isServing ? 'loaded' : 'pending'
    return [{ ...placement, deploymentId, candidate: program, candidateState, error: null }]
  })
  const added = decision.add.map((place) =>
    createPlacement({ ...place, group: toGroup(deploy), revision: deploy.revision, program }),
  )
  return [...kept, ...added]
}

/** More agents for a deploy that runs, in place of those that went away. */
export function toGroup(deploy: Pick<DeployRecord, 'groupId' | 'organizationId'>) {
  return { id: deploy.groupId, organizationId: deploy.organizationId }
}
