/**
 * Stages: other sources of a group, tried on separate agents before they are deployed. Reads what a stage requests, chooses its
 * agents, and ends it: dropped, or promoted by a deploy of its sources. Until that deploy switches, the stage keeps serving; where
 * the group takes its place, both are loaded, and the routing VCL of the switch is compiled without the stage.
 */
import { FleetError } from '../../errors.js'
import { runInSteps } from '../../in-steps.js'
import { programName } from '../../vcl/desired-engine.js'
import { requireAll } from '../api/find-references.js'
import { readDomainNames } from '../domains/domain-queries.js'
import { holderId, indexInSteps } from '../fleet/agent-index.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { readFleet } from '../fleet/fleet.js'
import { promoteStage } from '../fleet/end-stage.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { addHistory } from '../fleet/history-queries.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { markReplaced } from '../fleet/replaced-placements.js'
import { countLoad, keepSource } from '../fleet/sources.js'
import { findStage, replaceUses, type StageRecord } from '../fleet/stage-queries.js'
import { findStageConflicts, stageDeployment, type StagedSources } from '../fleet/stage.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import type { StageTarget } from '../fleet/vcl-group.js'
import { requireOwnMain } from '../groups/deploy-sources.js'
import type { stage } from '../../resources/vclgroup.js'
import type { GivenBody } from '../api/resource-schemas.js'
import { requireMain } from '../groups/groups.js'
import { compareWithPlacements, type PlacedDecision } from '../placement/candidates.js'
import { placeInSteps } from '../placement/placement.js'
import { noteOtherHolders, toPlacementInput } from '../placement/placing.js'
import type { StateService } from '../service.js'
import { readUsableIds } from '../store/owner.js'
import { scopeOfOwner } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import type { Asked, Planned, Refusal } from './begin.js'

/** Fields that are null or left out default to the group's. */
export type StageFiles = GivenBody<typeof stage>

/** Throws 'invalid' if an object cannot be used by the group's owner, or if the domains do not suit the group. */
export async function readStaged(service: StateService, group: GroupRecord, request: StageFiles) {
  const { queries } = service.store
  const owner = group.organizationId
  const tagIds = await requireAll(request.tags, 'tags', 'deploy', (ids) =>
    readUsableTagIds(queries, owner, ids),
  )
  const main = request.mainVCL
    ? await requireMain(service, owner, { main: request.mainVCL, errorKey: 'deploy' })
    : requireOwnMain(group)
  const includes = request.includes
    ? await requireAll(request.includes, 'includes', 'deploy', (ids) =>
        readUsableIds(queries, 'files', owner, ids),
      )
    : group.includes.map(({ id }) => id)
  const { mainFileId, mainFileVersion } = main
  const target: StageTarget = {
    tagIds: tagIds.toSorted((a, b) => a - b),
    ownDomains: Boolean(request.domains && request.domains.length > 0),
    mainFileVersion,
  }
  return {
    target,
    mainVCL: { id: mainFileId, version: mainFileVersion },
    includes: includes.map((id) => ({ id, version: null })),
    domains: await readStagedDomains(queries, group, request.domains),
    // A stage's tags select its agents.
    deployments: [],
  }
}

/** Returns the stage's own domains, by default the group's. Throws 'invalid'. */
export async function readStagedDomains(
  queries: Queries,
  group: GroupRecord,
  wanted: StageFiles['domains'],
): Promise<GroupRecord['domains']> {
  if (!wanted || (wanted.length === 0 && group.root)) return group.domains
  if (group.root)
    throw new FleetError(
      'invalid',
      'deploy',
      'domains: a root group has none, and neither has its stage; omit the key',
    )
  if (wanted.length === 0)
    throw new FleetError(
      'invalid',
      'deploy',
      'domains: a stage of a group with domains needs at least one; omit the key for those of the group',
    )
  const ids = await requireAll(wanted, 'domains', 'deploy', (ids) =>
    readUsableIds(queries, 'domains', group.organizationId, ids),
  )
  return readDomainNames(queries, ids)
}

/** Chooses every Running agent with all of the tags, or refuses. */
export async function planStage(
  queries: Queries,
  asked: Asked,
  target: StageTarget,
): Promise<Planned> {
  const { group, gathered, now } = asked
  const chosen = await chooseAgents(queries, asked, target)
  if ('because' in chosen) return chosen
  const before = await findStage(queries, group.id)
  await keepSource(queries, gathered.source, now)
  const { source, ...files } = gathered
  const { sha } = source
  // Text that is already staged keeps its name. Stage and group never share one: no two labels refer to the same VCL.
  const name =
    before?.sources.sha === sha
      ? before.sources.programName
      : programName(group.id, sha, await countLoad(queries, sha))
  const sources: StagedSources = { ...files, sha, programName: name, stage: target }
  const isSame = JSON.stringify(before?.sources) === JSON.stringify(sources)
  const kind = isSame && compareWithPlacements(chosen, sources)
  if (kind) return { kind, agentIds: [] }
  await replaceUses(queries, group.id, before ? [before.sources, sources] : [sources])
  return { ...chosen, sources, revision: (before?.revision ?? 0) + 1 }
}

async function chooseAgents(
  queries: Queries,
  { group, gathered }: Asked,
  target: StageTarget,
): Promise<PlacedDecision | Refusal> {
  const placements = await readPlacements(queries, { groupIds: [group.id], stage: true })
  const fleet = await readFleet(queries, scopeOfOwner(group.organizationId))
  const { tagIds } = target
  const { domains, releases } = gathered
  const placing = {
    group: { id: group.id, domains, releases, stage: target },
    deployments: [stageDeployment(tagIds)],
    agents: await runInSteps(indexInSteps(fleet)),
    placements,
  }
  await noteOtherHolders(queries, placing)
  const input = toPlacementInput(placing)
  const conflicts = findStageConflicts(input)
  if (conflicts.length > 0) {
    const names = new Map(fleet.map(({ id, name }) => [id, name]))
    return { because: 'conflict', message: describeConflicts(conflicts, names) }
  }
  const decision = await runInSteps(placeInSteps(input))
  return decision.shortages.length === 0
    ? { placements, decision }
    : { because: 'unavailable', message: 'no running agent has all of the tags' }
}

/** Maximum number of agents named in a message. */
const namesLimit = 20

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

/** Throws 'conflict' if there is no stage. */
export async function requireStage(queries: Queries, groupId: number): Promise<StageRecord> {
  const stage = await findStage(queries, groupId)
  if (!stage) throw new FleetError('conflict', 'deploy', 'the group is not staged; stage it first')
  return stage
}

interface PromoteInPlace {
  readonly group: GroupRecord
  readonly account: string
  readonly now: number
}

/** For sources that the group already serves: only ends the stage. Returns the agents whose desired state changed. */
export async function promoteInPlace(
  queries: Queries,
  { group, account, now }: PromoteInPlace,
): Promise<number[]> {
  const { sources } = await requireStage(queries, group.id)
  const agentIds = await promoteStage(queries, group, now)
  await addHistory(queries, {
    groupId: group.id,
    organizationId: group.organizationId,
    revision: group.revision,
    at: now,
    account,
    action: 'promote',
    result: 'ok',
    sources: group.desiredRelease ?? sources,
  })
  return recomposeDesired(queries, agentIds)
}

/** Phase one of a promote: marks the stage as about to be replaced on agents that load a candidate of the group. */
export async function markLeaving(
  queries: Queries,
  groupId: number,
  candidates: readonly Pick<PlacementRecord, 'agentId'>[],
): Promise<void> {
  const holder = holderId({ groupId, stage: true })
  await markReplaced(
    queries,
    groupId,
    candidates.map(({ agentId }) => ({ agentId, holder })),
  )
}
