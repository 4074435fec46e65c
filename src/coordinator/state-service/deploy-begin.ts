/** The first step of a deploy: choose agents, save candidates and the deploy's row, tell the agents. */
import type { Context } from '../../context.js'
import { programName } from '../../domain/desired-engine.js'
import type { Actor } from '../../domain/permission.js'
import type { WishedSources } from '../../domain/vcl-group.js'
import { FleetError } from '../../errors.js'
import { indexAgents } from '../../domain/agent-index.js'
import { readDeploymentsOf } from '../../store/deployments.js'
import { insertDeploy, readDeploys, type DeployRecord } from '../../store/deploys.js'
import { recomposeDesired } from '../../store/desired-states.js'
import { readFleet } from '../../store/fleet.js'
import { readPlacements, savePlacements } from '../../store/placements.js'
import { scopeOfOwner } from '../../store/scope.js'
import { countLoad, keepSource } from '../../store/sources.js'
import type { Queries } from '../../store/store.js'
import { findGroup, writeWish, type GroupRecord } from '../../store/vcl-groups.js'
import { tellDesiredChanged } from './agent-hints.js'
import type { GatheredSources } from './deploy-sources.js'
import { recordRefusedDeploy } from './history.js'
import { isInPlace, toCandidates } from './deploy-candidates.js'
import { decidePlacement } from './placing.js'
import { scopeOf, type StateService } from './service.js'
import { describeShortages } from './shortage.js'
import { watchAgents } from './watch-agents.js'

export interface BeginRequest {
  readonly actor: Actor
  readonly group: GroupRecord
  readonly gathered: GatheredSources
  /** Another deploy of the group is waited for until then, then 409. */
  readonly untilMs: number
}

type Begun =
  | { readonly kind: 'begun'; readonly deploy: DeployRecord; readonly agentIds: readonly number[] }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'conflict' | 'unavailable'; readonly message: string }

/** Answers the deploy that now runs, or 'unchanged' when every cache serves this already. */
export async function beginDeploy(
  service: StateService,
  context: Context,
  request: BeginRequest,
): Promise<DeployRecord | 'unchanged'> {
  const begun = await watchAgents(
    service,
    async () => {
      const tried = await service.store.decide((queries) =>
        tryBegin(service, context, request, queries),
      )
      return tried.kind === 'busy' ? undefined : tried
    },
    { untilMs: request.untilMs, signal: service.background.signal },
  )
  if (!begun)
    throw new FleetError('conflict', 'deploy', 'another deploy of this group is in progress')
  if (begun.kind === 'unchanged') return 'unchanged'
  if (begun.kind === 'begun') {
    tellDesiredChanged(service, begun.agentIds, context.traceId)
    context.log.info(
      { group: request.group.id, revision: begun.deploy.revision, agents: begun.agentIds.length },
      'deploy: loading',
    )
    return begun.deploy
  }
  const { group, gathered, actor } = request
  await recordRefusedDeploy(service, { actor, group, gathered, result: begun.message })
  throw new FleetError(begun.kind, 'deploy', begun.message)
}

async function tryBegin(
  service: StateService,
  context: Context,
  request: BeginRequest,
  queries: Queries,
): Promise<Begun> {
  const { actor, gathered } = request
  const group = await findGroup(queries, scopeOf(actor), request.group.id)
  if (!group) throw new FleetError('not-found', 'deploy', `${request.group.id} was not found`)
  if ((await readDeploys(queries, [group.id])).length > 0) return { kind: 'busy' }

  const placements = await readPlacements(queries, { groupIds: [group.id] })
  const deployments = await readDeploymentsOf(queries, gathered.deploymentIds)
  const decision = decidePlacement({
    group,
    deployments,
    agents: indexAgents(await readFleet(queries, scopeOfOwner(group.organizationId))),
    placements,
  })
  const same = isSameWish(group, gathered) ? group.wish : null
  if (same && isInPlace(placements, decision, same)) return { kind: 'unchanged' }

  await keepSource(queries, gathered.source, service.now())
  const sources = await nameSources(queries, group, gathered)
  const shortage = describeShortages(decision, deployments)
  if (shortage?.kind === 'conflict') return shortage
  if (shortage) {
    await writeWish(queries, group.id, { sources, pending: true, revision: group.revision })
    return shortage
  }
  const deploy = {
    groupId: group.id,
    organizationId: group.organizationId,
    action: 'deploy' as const,
    revision: group.revision + 1,
    sources,
    traceId: context.traceId,
    account: actor.accountName,
    startedAt: service.now(),
  }
  const id = await insertDeploy(queries, deploy)
  const candidates = toCandidates(deploy, placements, decision)
  await savePlacements(queries, candidates)
  const agentIds = await recomposeDesired(
    queries,
    candidates.map(({ agentId }) => agentId),
  )
  return { kind: 'begun', deploy: { ...deploy, id }, agentIds }
}

function isSameWish({ wish, wishPending }: GroupRecord, gathered: GatheredSources): boolean {
  if (wish?.sha !== gathered.source.sha || wishPending) return false
  return wish.deploymentIds.join() === gathered.deploymentIds.join()
}

/** The same text keeps its name on the caches; another one gets a new name. */
async function nameSources(
  queries: Queries,
  group: GroupRecord,
  gathered: GatheredSources,
): Promise<WishedSources> {
  const { mainVCL, includes, deploymentIds, source } = gathered
  const known = group.wish?.sha === source.sha ? group.wish.programName : undefined
  const name = known ?? programName(group.id, source.sha, await countLoad(queries, source.sha))
  return { mainVCL, includes, deploymentIds, sha: source.sha, programName: name }
}
