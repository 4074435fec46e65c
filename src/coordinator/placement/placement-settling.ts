/** What a reconcile run makes of one place before it decides who comes and goes. Pure. */
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { isSameProgram, type PlacedProgram } from '../../vcl/desired-engine.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import {
  awaitCandidate,
  failPlacement,
  holdsPlacement,
  nameAsHeld,
  switchPlacement,
} from './placing.js'

interface Settling {
  readonly group: Pick<GroupRecord, 'revision' | 'keepOnFailure'>
  /** What the group wants. */
  readonly program: PlacedProgram
  /** Undefined: the agent is no more. */
  readonly state: AgentState | undefined
  /** The cache is another process than before. */
  readonly isRestarted: boolean
  /** Its wave of a rollout has not begun: the candidate waits. */
  readonly isHeld: boolean
  /** The agent is Down with most of the fleet. */
  readonly isLost: boolean
}

export function settlePlacement(placement: PlacementRecord, settling: Settling): PlacementRecord {
  const settled = settleCandidate(placement, settling)
  return keepWhenLost(settling.isRestarted ? retryFailed(settled, settling) : settled, settling)
}

/** A candidate that loaded after the others had switched, or on an agent that came later, switches by itself. */
function settleCandidate(
  placement: PlacementRecord,
  { group, state, isHeld }: Settling,
): PlacementRecord {
  if (isHeld && placement.candidateState !== 'failed') return placement
  if (placement.candidateState === 'loaded') return switchPlacement(placement, group.revision)
  if (state !== agentStates.Running) return awaitCandidate(placement)
  if (placement.candidateState === 'failed') return failPlacement(placement, group.keepOnFailure)
  return placement
}

/** What serves another VCL because the wanted one failed loads that once more (docs/behaviour.md, Deploy). */
function retryFailed(placement: PlacementRecord, { group, program }: Settling): PlacementRecord {
  const { state, current, candidate } = placement
  if (state !== 'failed' || current === null || candidate !== null) return placement
  if (isSameProgram(current, program)) return placement
  const wanted = nameAsHeld(placement, program)
  const anew = { candidate: wanted, candidateState: 'pending', error: null } as const
  return { ...placement, ...anew, state: 'wanted', wantedRevision: group.revision }
}

/** What is lost with most of the fleet keeps its place also when others of the fleet are back. */
function keepWhenLost(placement: PlacementRecord, { state, isLost }: Settling): PlacementRecord {
  const keptDown = state === agentStates.Down && (placement.keptDown || isLost)
  return keptDown === placement.keptDown ? placement : { ...placement, keptDown }
}

/** What failed here is tried again at the next deploy, or when the cache restarted, not in every run. */
export function findGivenUp(
  placements: readonly PlacementRecord[],
  restarted: ReadonlySet<number>,
): ReadonlySet<number> {
  const failed = placements.filter((one) => !holdsPlacement(one) && !restarted.has(one.agentId))
  return new Set(failed.map(({ agentId }) => agentId))
}
