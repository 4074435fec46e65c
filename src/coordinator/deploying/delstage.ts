/** Dropping a stage: its agents serve what they did without it; the group itself stays as it is (choices: 3, Stage). */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { addHistory } from '../fleet/history-queries.js'
import type { Queries } from '../store/store.js'
import { findGroup } from '../fleet/group-queries.js'
import { tellDesiredChanged } from '../agents/agent-hints.js'
import { watchAgents } from '../agents/watch-agents.js'
import type { VerbAnswer } from './deploy.js'
import { endStage, requireStage } from './stage-end.js'
import { isInDeploy } from '../placement/replacing.js'
import { scopeOf, type StateService } from '../service.js'
import { isGone } from './switch-wait.js'

/** Chosen by us: as long as an undeploy waits when nothing else is said. */
const waitMs = 60_000

/** Throws FleetError: not-found; conflict without a stage, or when a deploy of the group does not end meanwhile. */
export async function dropStage(
  service: StateService,
  context: Context,
  actor: Actor,
  groupId: number,
): Promise<VerbAnswer> {
  const until = { untilMs: service.now() + waitMs, signal: service.background.signal }
  const agentIds = await watchAgents(
    service,
    () => service.store.decide((queries) => removeStage(service, actor, groupId, queries)),
    until,
  )
  if (agentIds === undefined)
    throw new FleetError('conflict', 'deploy', 'a deploy of this group is in progress')
  tellDesiredChanged(service, agentIds, context.traceId)
  context.log.info({ group: groupId, agents: agentIds.length }, 'delstage')
  const done = await watchAgents(service, () => isGone(service, agentIds, 100), until)
  return { completed: done ?? false }
}

/** Undefined while a deploy of the group runs. */
async function removeStage(
  service: StateService,
  actor: Actor,
  groupId: number,
  queries: Queries,
): Promise<readonly number[] | undefined> {
  const group = await findGroup(queries, scopeOf(actor), groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${groupId} was not found`)
  if (await isInDeploy(queries, groupId)) return undefined
  const { sources } = await requireStage(queries, groupId)
  const agentIds = await endStage(queries, groupId)
  await addHistory(queries, {
    groupId,
    organizationId: group.organizationId,
    revision: group.revision,
    at: service.now(),
    account: actor.accountName,
    action: 'delstage',
    result: 'ok',
    sources,
  })
  return recomposeDesired(queries, agentIds)
}
