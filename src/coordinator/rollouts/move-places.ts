/**
 * Placements of a group during its rollout. Until its wave begins an agent keeps the new VCL loaded as its candidate, beside the one
 * that serves; after the switch the old VCL stays loaded as the previous one. Pure.
 */
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { isSameProgram, type PlacedProgram } from '../../vcl/desired-engine.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'
import type { AgentOfWave, RolloutRecord } from '../fleet/rollout-queries.js'
import { programOf } from '../fleet/vcl-group.js'
import {
  awaitCandidate,
  dropCandidate,
  failPlacement,
  nameAsHeld,
  switchPlacement,
} from '../placement/placing.js'
import type { AgentProgress } from './next-step.js'
import type { PlaceProgress } from './seen-places.js'

interface WaveToSwitch {
  readonly agentIds: ReadonlySet<number>
  readonly revision: number
  readonly stateOf: (agentId: number) => AgentState | undefined
}

/** Returns the changed placements of the wave: they switch at once, switch when they have loaded the VCL, or have failed. */
export function switchWave(
  placements: readonly PlacementRecord[],
  { agentIds, revision, stateOf }: WaveToSwitch,
): readonly PlacementRecord[] {
  return placements
    .filter(({ agentId, candidate }) => agentIds.has(agentId) && candidate !== null)
    .map((placement) => {
      const { candidateState, error } = placement
      if (candidateState === 'loaded') return switchPlacement(placement, revision)
      const isThere = stateOf(placement.agentId) === agentStates.Running
      const hasFailed =
        candidateState === 'failed' || (candidateState === 'pending' && error !== null)
      if (hasFailed && isThere) return failPlacement(placement, placement.current !== null)
      return { ...awaitCandidate(placement), wantedRevision: revision, state: 'wanted' as const }
    })
}

/** Called when the last wave begins: agents that joined meanwhile load the new release too. */
export function loadNewcomers(
  placements: readonly PlacementRecord[],
  rollout: Pick<RolloutRecord, 'waves' | 'sources' | 'revision'>,
): readonly PlacementRecord[] {
  const program = programOf(rollout.sources)
  const known = new Set(rollout.waves.flatMap(({ agents }) => agents.map(({ id }) => id)))
  return placements
    .filter(
      (place) =>
        !known.has(place.agentId) &&
        place.replacedBy === null &&
        !isSameProgram(place.current, program) &&
        !isSameProgram(place.candidate, program),
    )
    .map((place) => ({
      ...place,
      candidate: program,
      candidateState: 'pending' as const,
      error: null,
      state: 'wanted' as const,
      wantedRevision: rollout.revision,
    }))
}

/** Agents that joined with the last wave and serve the new release are added to that wave: they go back with it. */
export function joinNewcomers(
  rollout: RolloutRecord,
  places: readonly (PlaceProgress & { readonly agentId: number; readonly agentName: string })[],
): RolloutRecord {
  const program = programOf(rollout.sources)
  const known = new Set(rollout.waves.flatMap(({ agents }) => agents.map(({ id }) => id)))
  const joined = places
    .filter(({ agentId, current }) => !known.has(agentId) && isSameProgram(current, program))
    .map(({ agentId: id, agentName: name }) => ({
      id,
      name,
      state: 'switched' as const,
      error: null,
    }))
  const waves = rollout.waves.map((wave, at) =>
    at === rollout.wave - 1 ? { ...wave, agents: [...wave.agents, ...joined] } : wave,
  )
  return { ...rollout, waves }
}

interface RollbackChanges {
  readonly save: readonly PlacementRecord[]
  /** Agents that served nothing of the group before. */
  readonly leave: readonly number[]
}

/** All agents that serve the new release, or are about to, serve the old one again. */
export function goBack(
  placements: readonly PlacementRecord[],
  rollout: Pick<RolloutRecord, 'sources' | 'fromSources' | 'fromRevision'>,
): RollbackChanges {
  const [program, old] = [programOf(rollout.sources), programOf(rollout.fromSources)]
  const own = placements.filter(({ replacedBy }) => replacedBy === null)
  const save = own.flatMap((place): PlacementRecord[] => {
    if (isSameProgram(place.current, program))
      return [returnPlace(place, old, rollout.fromRevision)]
    if (!isSameProgram(place.candidate, program) || place.current === null) return []
    return [{ ...dropCandidate(place), ...settled(place) }]
  })
  const leave = own.filter(
    ({ current, candidate }) => current === null && isSameProgram(candidate, program),
  )
  return { save, leave: leave.map(({ agentId }) => agentId) }
}

function returnPlace(
  place: PlacementRecord,
  old: PlacedProgram,
  revision: number,
): PlacementRecord {
  const candidate = nameAsHeld(place, old)
  const back = { ...place, candidate, error: null }
  if (place.previous !== null && isSameProgram(place.previous, candidate))
    return switchPlacement({ ...back, candidateState: 'loaded' }, revision)
  // The old VCL must be loaded again; the switch then follows by itself.
  return { ...back, candidateState: 'pending', state: 'wanted', wantedRevision: revision }
}

/** The agent still serves the old release; its switch was only planned. */
function settled({ state, appliedRevision }: PlacementRecord): Partial<PlacementRecord> {
  if (state !== 'wanted' || appliedRevision === null) return {}
  return { state: 'applied', wantedRevision: appliedRevision }
}

interface ProgressAsked {
  readonly program: PlacedProgram
  readonly isGoingBack: boolean
  /** Its wave has not begun. */
  readonly isHeld: boolean
}

/** Returns how far an agent of a wave is; `gone` if it has no placement any more. */
export function progressOf(
  place: PlaceProgress | undefined,
  { program, isGoingBack, isHeld }: ProgressAsked,
): AgentProgress {
  if (!place) return 'gone'
  if (isGoingBack) return isBack(place, program) ? 'back' : 'switching'
  if (isHeld) return 'waiting'
  const { current, candidate, state } = place
  if (isSameProgram(candidate, program)) return 'switching'
  if (state === 'failed' || !isSameProgram(current, program)) return 'failed'
  return state === 'applied' ? 'switched' : 'switching'
}

function isBack({ current, candidate, state }: PlaceProgress, program: PlacedProgram): boolean {
  const isLoading = candidate !== null && !isSameProgram(candidate, program)
  return !isSameProgram(current, program) && !isLoading && state !== 'applying'
}

/** The agent as its wave shows it; in a wave that never began it did not leave the old release, so it is still `waiting`. */
export function toWaveAgent(
  agent: AgentOfWave,
  progress: AgentProgress,
  place: PlaceProgress | undefined,
  wasBegun: boolean,
): AgentOfWave {
  const isBack = progress === 'back'
  const left = wasBegun ? ('rolledBack' as const) : ('waiting' as const)
  const state = isBack ? left : progress === 'gone' ? agent.state : progress
  return { ...agent, state, error: state === 'failed' ? (place?.error ?? agent.error) : null }
}
