/** The first step of a stage: every Running agent with all of the tags is asked, or none. Runs under the decision lock. */
import { indexAgents } from '../fleet/agent-index.js'
import { programName } from '../../vcl/desired-engine.js'
import { placeGroup, type PlacementDecision } from '../placement/placement.js'
import { findStageConflicts, stageDeployment, type StagedSources } from '../fleet/stage.js'
import type { StageTarget } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { insertDeploy } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { readFleet } from '../fleet/fleet.js'
import { readPlacements, savePlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { scopeOfOwner } from '../store/scope.js'
import { countLoad, keepSource } from '../fleet/sources.js'
import { findStage, replaceUses } from '../fleet/stage-queries.js'
import type { Queries } from '../store/store.js'
import { findGroup, type GroupRecord } from '../fleet/group-queries.js'
import { leaseMs } from '../store/leases.js'
import { noteOtherHolders, toPlacementInput, type PlacingInput } from '../placement/placing.js'
import { isInDeploy } from '../placement/replacing.js'
import { scopeOf, type StateService } from '../service.js'
import { compareWithPlaces, findUnasked, toCandidates } from './deploy-candidates.js'
import type { GatheredSources } from '../groups/deploy-sources.js'
import type { Begun, TurnRequest } from './deploy-turn.js'

interface BeginStage extends TurnRequest {
  readonly traceId: string
  readonly gathered: GatheredSources
  readonly target: StageTarget
}

/** Chosen by us: agents that a message names. */
const namesLimit = 20

export async function beginStage(
  service: StateService,
  queries: Queries,
  request: BeginStage,
): Promise<Begun> {
  const { actor, groupId, gathered, target } = request
  const group = await findGroup(queries, scopeOf(actor), groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${groupId} was not found`)
  if (await isInDeploy(queries, groupId)) return { kind: 'busy' }

  const placements = await readPlacements(queries, { groupIds: [groupId], stage: true })
  const decision = await chooseAgents(queries, { group, gathered, target, placements })
  if ('because' in decision) return { kind: 'refused', ...decision, group, gathered }

  const before = await findStage(queries, groupId)
  await keepSource(queries, gathered.source, service.now())
  const sources = await nameStage(queries, request, before?.sources)
  const isSame = JSON.stringify(before?.sources) === JSON.stringify(sources)
  const compared = isSame ? compareWithPlaces(placements, decision, sources) : 'other'
  if (compared !== 'other') return { kind: compared === 'in-place' ? 'unchanged' : 'switching' }
  const deploy = {
    groupId,
    organizationId: group.organizationId,
    action: request.action,
    revision: (before?.revision ?? 0) + 1,
    sources,
    traceId: request.traceId,
    account: actor.accountName,
    startedAt: service.now(),
    owner: service.leases.processId,
    epoch: 1,
  }
  const id = await insertDeploy(queries, deploy, service.now() + leaseMs)
  await replaceUses(queries, groupId, before ? [before.sources, sources] : [sources])
  const candidates = toCandidates(deploy, placements, decision)
  await savePlacements(queries, candidates)
  const agentIds = await recomposeDesired(
    queries,
    candidates.map(({ agentId }) => agentId),
    { anew: findUnasked(placements, candidates) },
  )
  return { kind: 'begun', deploy: { ...deploy, id }, agentIds }
}

interface Choosing extends Pick<BeginStage, 'gathered' | 'target'> {
  readonly group: GroupRecord
  readonly placements: readonly PlacementRecord[]
}

interface Refusal {
  readonly because: 'conflict' | 'unavailable'
  readonly message: string
}

async function chooseAgents(
  queries: Queries,
  { group, gathered, target, placements }: Choosing,
): Promise<PlacementDecision | Refusal> {
  const fleet = await readFleet(queries, scopeOfOwner(group.organizationId))
  const { tagIds } = target
  const placing: PlacingInput = {
    group: { id: group.id, domains: gathered.domains, stage: target },
    deployments: [stageDeployment(tagIds)],
    agents: indexAgents(fleet),
    placements,
  }
  await noteOtherHolders(queries, placing)
  const input = toPlacementInput(placing)
  const conflicts = findStageConflicts(input)
  if (conflicts.length > 0) {
    const names = new Map(fleet.map(({ id, name }) => [id, name]))
    return { because: 'conflict', message: describeConflicts(conflicts, names) }
  }
  const decision = placeGroup(input)
  return decision.shortages.length === 0
    ? decision
    : { because: 'unavailable', message: 'no running agent has all of the tags' }
}

/** Text that is staged already keeps its name. One of its own always: no two labels stand for one VCL. */
async function nameStage(
  queries: Queries,
  { groupId, gathered, target }: BeginStage,
  before: StagedSources | undefined,
): Promise<StagedSources> {
  const { source, ...files } = gathered
  const { sha } = source
  const name =
    before?.sha === sha
      ? before.programName
      : programName(groupId, sha, await countLoad(queries, sha))
  const { mainVCL, includes, deploymentIds, domains } = files
  return { mainVCL, includes, deploymentIds, domains, sha, programName: name, stage: target }
}

function describeConflicts(
  conflicts: readonly { readonly agentId: number; readonly reason: string }[],
  names: ReadonlyMap<number, string>,
): string {
  const shown = conflicts
    .slice(0, namesLimit)
    .map(({ agentId, reason }) => `${names.get(agentId) ?? agentId}: ${reason}`)
  const more = conflicts.length - shown.length
  return `a stage goes to all running agents with its tags. ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
