/**
 * The branch of a console group, and its deploy: the controller's two phases (deploying/verbs.ts), reported for each cache. A new
 * branch is assigned to the group once deployed, in the decision that switches.
 */
import type { Context } from '../../../context.js'
import { agentStates } from '../../../resources/agent-state.js'
import { translateError } from '../../../vcl/compiler-text.js'
import { judgeCache, type CacheOutcome, type DeployEnd } from './group-deploy.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { readAgents, type AgentRecord } from '../../fleet/agent-queries.js'
import { relateBranch, unrelateBranch } from '../../files/branch-queries.js'
import { readAgentsOfGroups } from '../../fleet/group-members.js'
import { readGroupPlacements } from '../../fleet/group-placements.js'
import type { Queries } from '../../store/store.js'
import { findGroup } from '../../fleet/group-queries.js'
import { DeployDiscarded } from '../../deploying/decide.js'
import { readSourceMap } from '../../groups/source-places.js'
import { undeployVclGroup } from '../../deploying/undeploy.js'
import { deployVclGroup } from '../../deploying/verbs.js'
import type { StateService } from '../../service.js'
import { requireConsoleGroup, type ConsoleGroup } from './groups.js'
import type { BranchRecord } from '../vcls/vcls.js'
import { describeFreeze, readFreeze } from '../../identity/freeze.js'

/** Both already found for the caller. */
interface GroupBranch {
  readonly group: ConsoleGroup
  readonly branch: BranchRecord
}

/** Takes effect at the next deploy. Repeating changes nothing. */
export async function giveBranch(
  service: StateService,
  { group, branch }: GroupBranch,
): Promise<void> {
  requireFitting(group, branch)
  if (group.mainFileId === branch.id) return
  const isDone = await service.store.transaction((queries) =>
    relateBranch(queries, group.id, branch.id, service.now()),
  )
  if (!isDone)
    throw new FleetError('not-found', 'vcl', 'the group or the branch was deleted meanwhile')
}

/** The longest time a call waits for the caches to unload the VCL. */
const takeAwayMs = 30_000

/**
 * When the branch is deployed or pending, the group is undeployed too and its caches run the idle VCL; otherwise they would keep
 * serving a VCL that no call shows. Throws 'not-found' if the group does not have the branch.
 */
export async function takeBranch(
  service: StateService,
  context: Context,
  actor: Actor,
  { group, branch }: GroupBranch,
): Promise<void> {
  requireConsoleGroup(group)
  const unrelate = (queries: Queries) => unrelateBranch(queries, group.id, branch.id, service.now())
  if ([group.deployedCommit?.fileId, group.desiredFileId].includes(branch.id)) {
    await refuseWhileFrozen(service, group)
    await undeployVclGroup(service, context, {
      actor,
      groupId: group.id,
      waitMs: takeAwayMs,
      percent: 100,
      alsoWrite: unrelate,
    })
  } else if (!(await service.store.transaction(unrelate)))
    throw new FleetError('not-found', 'vcl', 'the group does not have this VCL')
}

/** Only the controller can force a change while frozen. */
async function refuseWhileFrozen(
  service: StateService,
  { organizationId }: GroupBranch['group'],
): Promise<void> {
  const frozen = await readFreeze(service.store.queries, organizationId, service.now())
  if (frozen) throw new FleetError('conflict', 'vcl', describeFreeze(frozen))
}

/** The default of `wait` in the controller's deploy. */
const deployWaitMs = 60_000

export interface DeployedCacheOutcome extends CacheOutcome {
  readonly agent: AgentRecord
}

export interface GroupDeploy {
  /** By the caches' ids. */
  readonly outcomes: readonly DeployedCacheOutcome[]
  /** Why it was not deployed; empty if it was deployed to at least some of them. */
  readonly message: string
}

/**
 * Returns how it ended on each cache. A group without caches deploys when its first cache joins. Throws FleetError 'conflict':
 * another deploy of the group is in progress, or something else holds the caches.
 */
export async function deployBranch(
  service: StateService,
  context: Context,
  actor: Actor,
  relation: GroupBranch,
): Promise<GroupDeploy> {
  requireFitting(relation.group, relation.branch)
  await refuseWhileFrozen(service, relation.group)
  const end = await runDeploy(service, context, actor, relation)
  const agents = await readCaches(service, relation.group.id)
  const outcomes = agents.map((agent) => {
    const isThere = agent.state === agentStates.Running
    return { agent, ...judgeCache(end, { id: agent.id, isThere }) }
  })
  return { outcomes, message: end.kind === 'begun' ? '' : end.message }
}

async function runDeploy(
  service: StateService,
  context: Context,
  actor: Actor,
  { group, branch }: GroupBranch,
): Promise<DeployEnd> {
  try {
    await deployVclGroup(service, context, {
      actor,
      groupId: group.id,
      waitMs: deployWaitMs,
      percent: 100,
      files: { mainVCL: { id: branch.id, version: null }, includes: [] },
    })
  } catch (error) {
    return toEnd(error)
  }
  return { kind: 'begun', places: await readPlaces(service, group.id) }
}

/** Errors about the caches; other errors are rethrown to the caller. */
function toEnd(error: unknown): DeployEnd {
  if (!(error instanceof FleetError) || error.errorKey !== 'deploy') throw error
  const { kind, message } = error
  if (kind === 'unavailable') return { kind, message }
  if (kind !== 'uncompilable') throw error
  return { kind, message, failures: error instanceof DeployDiscarded ? error.failures : null }
}

async function readPlaces(service: StateService, groupId: number) {
  const { queries } = service.store
  const places = await readGroupPlacements(queries, [groupId])
  const group = await findGroup(queries, { kind: 'all' }, groupId)
  const hasFailed = places.some(({ error }) => error !== null)
  const sourceMap =
    group?.desiredRelease && hasFailed
      ? await readSourceMap(service, { groupId, sources: group.desiredRelease })
      : undefined
  return new Map(
    places.map(({ agentId, state, candidateState, error }) => [
      agentId,
      {
        state,
        candidateState,
        error: error && sourceMap ? translateError(error, sourceMap) : error,
      },
    ]),
  )
}

async function readCaches(service: StateService, groupId: number): Promise<AgentRecord[]> {
  const { queries } = service.store
  const members = await readAgentsOfGroups(queries, [groupId])
  return readAgents(queries, { kind: 'all' }, members.get(groupId) ?? [])
}

function requireFitting(group: ConsoleGroup, { organizationId }: BranchRecord): void {
  requireConsoleGroup(group)
  if (organizationId !== group.organizationId)
    throw new FleetError('conflict', 'vcl', 'the branch is of another organization than the group')
}
