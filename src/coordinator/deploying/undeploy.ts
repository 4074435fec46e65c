/** Taking a group off all its caches. The wish goes at once; caches that are away drop the group when they return. */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { addHistory } from '../fleet/history-queries.js'
import { deletePlacements, readPlacements } from '../fleet/placement-queries.js'
import { releaseReplaced } from '../fleet/replaced-places.js'
import type { Queries } from '../store/store.js'
import { findGroup, writeWish } from '../fleet/group-queries.js'
import { tellDesiredChanged } from '../agents/agent-hints.js'
import type { VerbAnswer, VerbRequest } from './deploy.js'
import { isInDeploy } from '../placement/replacing.js'
import { scopeOf, type StateService } from '../service.js'
import { isGone } from './switch-wait.js'
import { watchAgents } from '../agents/watch-agents.js'

interface UndeployRequest extends VerbRequest {
  /** What goes with it, in the same decision. */
  readonly alsoWrite?: (queries: Queries) => Promise<unknown>
}

/** Throws FleetError: not-found; conflict when a deploy of the group does not end within the wait. */
export async function undeployVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  request: UndeployRequest,
): Promise<VerbAnswer> {
  const untilMs = service.now() + request.waitMs
  const until = { untilMs, signal: service.background.signal }
  const agentIds = await watchAgents(
    service,
    () => service.store.decide((queries) => removeAll(service, actor, request, queries)),
    until,
  )
  if (agentIds === undefined)
    throw new FleetError('conflict', 'deploy', 'a deploy of this group is in progress')
  tellDesiredChanged(service, agentIds, context.traceId)
  context.log.info({ group: request.groupId, agents: agentIds.length }, 'undeploy')
  const done = await watchAgents(service, () => isGone(service, agentIds, request.percent), until)
  return { completed: done ?? false }
}

/** Undefined while a deploy of the group runs. */
async function removeAll(
  service: StateService,
  actor: Actor,
  { groupId, alsoWrite }: UndeployRequest,
  queries: Queries,
): Promise<readonly number[] | undefined> {
  const group = await findGroup(queries, scopeOf(actor), groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${groupId} was not found`)
  if (await isInDeploy(queries, groupId)) return undefined
  await alsoWrite?.(queries)
  if (!group.deployed || !group.wish) return []
  await writeWish(queries, groupId, { sources: null, pending: false, revision: group.revision })
  await addHistory(queries, {
    groupId,
    organizationId: group.organizationId,
    revision: group.revision,
    at: service.now(),
    account: actor.accountName,
    action: 'undeploy',
    result: 'ok',
    sources: group.wish,
  })
  const placements = await readPlacements(queries, { groupIds: [groupId], stage: false })
  const agentIds = placements.map(({ agentId }) => agentId)
  await deletePlacements(queries, { groupId, stage: false }, agentIds)
  await releaseReplaced(queries)
  return recomposeDesired(queries, agentIds)
}
