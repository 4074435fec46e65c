/** Decides which agents load which VCL in phase one, and whether there is anything to do at all. Pure. */
import type { PlacementDecision } from './placement.js'
import { hasSameNames, isSameProgram, type PlacedProgram } from '../../vcl/desired-engine.js'
import { programOf, type Release } from '../fleet/vcl-group.js'
import type { DeployRecord } from '../fleet/deploy-queries.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'
import { createPlacement, nameAsHeld } from './placing.js'
import { placesPerStep } from './sort-holders.js'

export interface PlacedDecision {
  readonly placements: readonly PlacementRecord[]
  /** Made from these placements. */
  readonly decision: PlacementDecision
}

/**
 * `unchanged`: every chosen agent already serves these sources, and no agent is added or removed. `switching`: an earlier deploy
 * of them was decided, and some agents are about to serve them, or will when they reconnect. Undefined: an agent failed, or the
 * agents differ.
 */
export function compareWithPlacements(
  { placements, decision }: PlacedDecision,
  sources: Release,
): 'unchanged' | 'switching' | undefined {
  const { add, remove, shortages } = decision
  if (add.length > 0 || remove.length > 0 || shortages.length > 0) return undefined
  const stays = [...decision.keep, ...decision.waiting]
  const kept = new Map(stays.map((place) => [place.agentId, place.deploymentId]))
  const program = programOf(sources)
  // A placement that another group takes over belongs to that group.
  const own = placements.filter(({ replacedBy }) => replacedBy === null)
  const isSame = own.every(
    (placement) =>
      kept.get(placement.agentId) === placement.deploymentId && isOnItsWay(placement, program),
  )
  if (!isSame) return undefined
  const isThere = own.every(({ state, candidate }) => state === 'applied' && candidate === null)
  return isThere ? 'unchanged' : 'switching'
}

/** True if the placement serves the program, or will without another request. */
function isOnItsWay(
  { state, current, candidate, candidateState }: PlacementRecord,
  program: PlacedProgram,
): boolean {
  if (candidate !== null) return candidateState !== 'failed' && isSameProgram(candidate, program)
  return (state === 'applied' || state === 'applying') && isSameProgram(current, program)
}

/** Makes, in steps, the placements of phase one: kept ones with their candidate, and new ones. Down agents load it when they reconnect. */
export function* toCandidates(
  deploy: Pick<DeployRecord, 'groupId' | 'organizationId' | 'revision' | 'action' | 'sources'>,
  { placements, decision }: PlacedDecision,
): Generator<void, PlacementRecord[], void> {
  const program = programOf(deploy.sources)
  const before = new Map(placements.map((placement) => [placement.agentId, placement]))
  yield
  const candidates: PlacementRecord[] = []
  for (const [index, { agentId, deploymentId }] of [
    ...decision.keep,
    ...decision.waiting,
  ].entries()) {
    if (index % placesPerStep === placesPerStep - 1) yield
    const placement = before.get(agentId)
    if (!placement) continue
    const isThere = index < decision.keep.length
    const candidate = nameAsHeld(placement, program)
    const isLoaded =
      isThere &&
      placement.state === 'applied' &&
      holds(placement, candidate) &&
      // Different domains need a different routing VCL, which must be loaded too.
      (program.fqdns === null || hasSameNames(placement.current, program))
    const candidateState = isLoaded ? 'loaded' : 'pending'
    const anew = { candidate, candidateState, error: null, keptDown: false } as const
    candidates.push({ ...placement, ...anew, deploymentId })
  }
  const { groupId: id, organizationId, revision, action } = deploy
  const group = { id, organizationId }
  const common = { group, revision, program, stage: action === 'stage' }
  for (const [index, place] of decision.add.entries()) {
    if (index % placesPerStep === placesPerStep - 1) yield
    candidates.push(createPlacement({ ...place, ...common }))
  }
  return candidates
}

/**
 * Returns the agents whose desired state already names the candidate's VCL, so that it does not change, but that are not known
 * to hold it: they are asked again.
 */
export function findUnasked(
  before: readonly PlacementRecord[],
  candidates: readonly PlacementRecord[],
): ReadonlySet<number> {
  const placements = new Map(before.map((placement) => [placement.agentId, placement]))
  const unasked = candidates.filter(({ agentId, candidate, candidateState }) => {
    const placement = placements.get(agentId)
    return placement && candidateState === 'pending' && holds(placement, candidate)
  })
  return new Set(unasked.map(({ agentId }) => agentId))
}

/** The serving VCL and the previous one are loaded. */
function holds({ current, previous }: PlacementRecord, program: PlacedProgram | null): boolean {
  return program !== null && [current, previous].some((held) => held?.name === program.name)
}
