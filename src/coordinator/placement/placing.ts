/** Converts rows to the input of placement, and creates and changes placements after its decision. */
import { runInSteps } from '../../in-steps.js'
import {
  holderId,
  noteDomains,
  type AgentIndex,
  type PlacementHolder,
} from '../fleet/agent-index.js'
import { placeInSteps, type PlacementDecision } from './placement.js'
import type { PlacementDeployment, PlacementInput } from '../fleet/placement-input.js'
import { isSameLoad, isSameProgram, type PlacedProgram } from '../../vcl/desired-engine.js'
import type { StageTarget, ReleaseDomain } from '../fleet/vcl-group.js'
import { readOtherHolders } from '../fleet/placement-domains.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'
import type { Queries } from '../store/store.js'
import type { GroupRecord } from '../fleet/group-queries.js'

export interface GroupToPlace {
  readonly id: number
  readonly domains: readonly ReleaseDomain[]
  /** The cache releases that it may be placed on; null: any. */
  readonly releases: readonly string[] | null
  /** Set to place the group's stage, not the group itself. */
  readonly stage?: StageTarget | undefined
  /** The group's stage makes way for the group. */
  readonly promoting?: boolean
  /** Groups whose placements it may take over. */
  readonly replaces?: ReadonlySet<number> | undefined
}

export interface PlacingInput {
  /** As deployed, or as it is to be: a group's own fields take effect only at its next deploy. */
  readonly group: GroupToPlace
  readonly deployments: readonly PlacementDeployment[]
  readonly agents: AgentIndex
  readonly placements: readonly PlacementRecord[]
  /** Agents that must not be chosen: they failed or disconnected. */
  readonly exclude?: ReadonlySet<number>
  /** The desired program: other agents fill in where it failed and another VCL serves. */
  readonly wanted?: PlacedProgram | undefined
  /** Down agents whose placements are not given to others. */
  readonly keepDown?: ReadonlySet<number>
  /** For reasons: the name of a group or stage that the reader may see, by `holderId`. */
  readonly nameOf?: ((holder: number) => string | undefined) | undefined
}

/** A group with domains passes over agents where another group holds one of them. */
export async function decidePlacement(
  queries: Queries,
  input: PlacingInput,
): Promise<PlacementDecision> {
  await noteOtherHolders(queries, input)
  return runInSteps(placeInSteps(toPlacementInput(input)))
}

/** The same for a group whose domains do not change: if no agent is added, nothing is read. */
export async function decideFollowing(
  queries: Queries,
  input: PlacingInput,
): Promise<PlacementDecision> {
  const decision = await runInSteps(placeInSteps(toPlacementInput(input)))
  return decision.add.length === 0 || input.group.domains.length === 0
    ? decision
    : decidePlacement(queries, input)
}

/** Adds the other holders of the group's domains to the index, for placement. */
export async function noteOtherHolders(
  queries: Queries,
  { group, agents }: Pick<PlacingInput, 'group' | 'agents'>,
): Promise<void> {
  const fqdns = group.domains.map(({ fqdn }) => fqdn)
  noteDomains(agents, await readOtherHolders(queries, toHolder(group), fqdns))
}

export function toPlacementInput(input: PlacingInput): PlacementInput {
  const { group, deployments, agents, placements, wanted, keepDown, nameOf } = input
  const placed = placements.filter(holdsPlacement)
  const drains = placed.some(({ agentId }) => agents.byId.get(agentId)?.draining === true)
  // A placement that another group takes over is neither counted nor removed.
  const replaced = placements.filter(({ replacedBy }) => replacedBy !== null)
  const exclude =
    replaced.length === 0
      ? input.exclude
      : new Set([...(input.exclude ?? []), ...replaced.map(({ agentId }) => agentId)])
  return {
    group: {
      id: holderId(toHolder(group)),
      root: group.domains.length === 0,
      fqdns: group.domains.map(({ fqdn }) => fqdn),
      releases: group.releases,
      deployments,
      apartFrom: group.stage?.ownDomains === false ? group.id : undefined,
      supersedes:
        group.promoting === true ? holderId({ groupId: group.id, stage: true }) : undefined,
      replaces: group.replaces,
    },
    agents,
    placed,
    exclude,
    failed: wanted && findFailed(placements, wanted),
    keepDown,
    serving: drains ? findServing(placed) : undefined,
    nameOf,
  }
}

function toHolder({ id, stage }: GroupToPlace): PlacementHolder {
  return { groupId: id, stage: stage !== undefined }
}

function findServing(placements: readonly PlacementRecord[]): ReadonlySet<number> {
  const serving = placements.filter(({ state, current }) => state === 'applied' && current)
  return new Set(serving.map(({ agentId }) => agentId))
}

/** Finds agents that serve their old VCL; excludes placements that failed to switch or are loading again. */
function findFailed(
  placements: readonly PlacementRecord[],
  wanted: PlacedProgram,
): ReadonlySet<number> {
  const failed = placements.filter(
    ({ state, current, candidate }) =>
      state === 'failed' && current && !candidate && !isSameProgram(current, wanted),
  )
  return new Set(failed.map(({ agentId }) => agentId))
}

/** False if the VCL failed and no other one serves there. */
export function holdsPlacement(placement: PlacementRecord): boolean {
  return placement.current !== null || placement.candidate !== null
}

export interface NewPlacement {
  readonly group: Pick<GroupRecord, 'id' | 'organizationId'>
  readonly agentId: number
  readonly deploymentId: number
  readonly position: number
  readonly revision: number
  readonly program: PlacedProgram
  /** True for a placement of the group's stage. */
  readonly stage?: boolean
}

export function createPlacement(place: NewPlacement): PlacementRecord {
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
    keptDown: false,
    stage: place.stage ?? false,
    leaving: false,
    replacedBy: null,
  }
}

/** A cache where the VCL was adopted already holds it under a different name; the program then gets that name. */
export function nameAsHeld(
  { current, previous }: Pick<PlacementRecord, 'current' | 'previous'>,
  program: PlacedProgram,
): PlacedProgram {
  const held = [current, previous].find((one) => isSameLoad(one, program))
  return held ? { ...program, name: held.name } : program
}

/** Makes the candidate the serving VCL; the one that served before stays loaded as the previous one. */
export function switchPlacement(placement: PlacementRecord, revision: number): PlacementRecord {
  const { candidate, current } = placement
  if (candidate === null) return placement
  const isServing = isSameProgram(current, candidate)
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

/** The candidate failed here: the old VCL still serves, or the placement is given up (keepOnFailure false, or none served). */
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

/** The cache was not available to load it, so it loads it when it is back, unlike a cache that refused (docs/behaviour.md, Deploy). */
export function awaitCandidate(placement: PlacementRecord): PlacementRecord {
  return placement.candidateState === 'failed'
    ? { ...placement, candidateState: 'pending' }
    : placement
}

/** The deploy was abandoned before the switch: the serving VCL stays. */
export function dropCandidate(placement: PlacementRecord): PlacementRecord {
  const error = placement.state === 'failed' ? placement.error : null
  return { ...placement, candidate: null, candidateState: null, error }
}
