/** Updates one placement before a reconcile run decides which agents are added and removed. Pure. */
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
  /** The group's desired program. */
  readonly program: PlacedProgram
  /** Undefined: the agent was deleted. */
  readonly state: AgentState | undefined
  /** The cache restarted: it is a different process than before. */
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

/** A candidate that loaded after the others had switched, or on an agent that was added later, switches by itself. */
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

/** A placement that serves another VCL because the desired one failed loads the desired one again (docs/behaviour.md, Deploy). */
function retryFailed(placement: PlacementRecord, { group, program }: Settling): PlacementRecord {
  const { state, current, candidate } = placement
  if (state !== 'failed' || current === null || candidate !== null) return placement
  if (isSameProgram(current, program)) return placement
  const wanted = nameAsHeld(placement, program)
  const anew = { candidate: wanted, candidateState: 'pending', error: null } as const
  return { ...placement, ...anew, state: 'wanted', wantedRevision: group.revision }
}

/** An agent that was lost with most of the fleet keeps its placement even after other agents are back. */
function keepWhenLost(placement: PlacementRecord, { state, isLost }: Settling): PlacementRecord {
  const keptDown = state === agentStates.Down && (placement.keptDown || isLost)
  return keptDown === placement.keptDown ? placement : { ...placement, keptDown }
}

/** Agents where the VCL failed and none serves: it is tried again at the next deploy or after a cache restart, not in every run. */
export function findGivenUp(
  placements: readonly PlacementRecord[],
  restarted: ReadonlySet<number>,
): ReadonlySet<number> {
  const failed = placements.filter((one) => !holdsPlacement(one) && !restarted.has(one.agentId))
  return new Set(failed.map(({ agentId }) => agentId))
}
