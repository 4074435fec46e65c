/** From rows to the placement decision and back: what `placeGroup` is given, and what a new place looks like. */
import type { AgentIndex } from '../../domain/agent-index.js'
import { placeGroup, type PlacementDecision, type PlacementInput } from '../../domain/placement.js'
import type { DesiredProgram } from '../../domain/desired-engine.js'
import type { DeploymentRecord } from '../../store/deployments.js'
import type { PlacementRecord } from '../../store/placements.js'
import type { GroupRecord } from '../../store/vcl-groups.js'

export interface PlacingInput {
  readonly group: Pick<GroupRecord, 'id' | 'root'>
  readonly deployments: readonly DeploymentRecord[]
  readonly agents: AgentIndex
  readonly placements: readonly PlacementRecord[]
  /** Agents that are not to be chosen: they failed or went away. */
  readonly exclude?: ReadonlySet<number>
}

export function decidePlacement(input: PlacingInput): PlacementDecision {
  return placeGroup(toPlacementInput(input))
}

export function toPlacementInput(input: PlacingInput): PlacementInput {
  const { group, deployments, agents, placements, exclude } = input
  return {
    group: {
      id: group.id,
      root: group.root,
      deployments: deployments.map(({ id, min, max, tags }) => ({
        id,
        min,
        max,
        tagIds: tags.map((tag) => tag.id),
      })),
    },
    agents,
    placed: placements.filter(holdsPlace),
    ...(exclude ? { exclude } : {}),
  }
}

/** What failed before it ever served holds no place. */
export function holdsPlace(placement: PlacementRecord): boolean {
  return placement.current !== null || placement.candidate !== null
}

export interface NewPlace {
  readonly group: Pick<GroupRecord, 'id' | 'organizationId'>
  readonly agentId: number
  readonly deploymentId: number
  readonly position: number
  readonly revision: number
  readonly program: DesiredProgram
}

export function createPlacement(place: NewPlace): PlacementRecord {
  return {
    groupId: place.group.id,
    organizationId: place.group.organizationId,
    agentId: place.agentId,
    deploymentId: place.deploymentId,
    position: place.position,
    state: 'wanted',
    wantedRevision: place.revision,
    appliedRevision: null,
    current: null,
    candidate: place.program,
    candidateState: 'pending',
    previous: null,
    error: null,
    deployedAt: null,
  }
}

/** The candidate serves from now on; what served stays loaded as the previous one. */
export function switchPlacement(placement: PlacementRecord, revision: number): PlacementRecord {
  const { candidate, current } = placement
  if (candidate === null) return placement
  const isServing = current?.name === candidate.name
  return {
    ...placement,
    state: isServing ? 'applied' : 'applying',
    wantedRevision: revision,
    appliedRevision: isServing ? revision : placement.appliedRevision,
    current: candidate,
    previous: isServing ? placement.previous : (current ?? placement.previous),
    candidate: null,
    candidateState: null,
    error: null,
  }
}

/** The candidate failed here: the old VCL serves on, or the place is given up (keepOnFailure false, or none served). */
export function failPlacement(placement: PlacementRecord, keepOld: boolean): PlacementRecord {
  return {
    ...placement,
    state: 'failed',
    candidate: null,
    candidateState: null,
    error: placement.error ?? 'the VCL was not loaded',
    ...(keepOld ? {} : { current: null, previous: null, appliedRevision: null }),
  }
}

/** The cache was not there to load it: it does when it is back, unlike one that refused (choices: 3, Deploy). */
export function awaitCandidate(placement: PlacementRecord): PlacementRecord {
  return placement.candidateState === 'failed'
    ? { ...placement, candidateState: 'pending' }
    : placement
}

/** The deploy was given up before the switch: nothing has changed here. */
export function dropCandidate(placement: PlacementRecord): PlacementRecord {
  const error = placement.state === 'failed' ? placement.error : null
  return { ...placement, candidate: null, candidateState: null, error }
}
