/**
 * Removes a group, or its stage, from all its caches. The desired release is cleared at once; absent caches unload the VCL when
 * they return. When a stage ends, its agents serve what they would without it; the group itself stays as it is.
 */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import { notifyDesiredChanged } from '../agents/agent-hints.js'
import { watchAgents } from '../agents/watch-agents.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { endStage } from '../fleet/end-stage.js'
import { writeDesiredRelease, type GroupRecord } from '../fleet/group-queries.js'
import { addHistory } from '../fleet/history-queries.js'
import { deletePlacements, readPlacements } from '../fleet/placement-queries.js'
import { releaseReplaced } from '../fleet/replaced-placements.js'
import type { Release } from '../fleet/vcl-group.js'
import { isInDeploy } from '../placement/replacing.js'
import { requireNoRollout } from '../rollouts/running-rollout.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { requireGroup } from './begin.js'
import { requireStage } from './stage.js'
import { waitUntilGone } from './switch.js'
import type { VerbRequest } from './verbs.js'

interface UndeployRequest extends VerbRequest {
  /** Further writes in the same transaction. */
  readonly alsoWrite?: (queries: Queries) => Promise<unknown>
}

/** Throws FleetError: not-found; conflict if a deploy of the group does not end within the wait. */
export function undeployVclGroup(
  service: StateService,
  context: Context,
  request: UndeployRequest,
): Promise<boolean> {
  return removeFromCaches(service, context, request, {
    action: 'undeploy',
    remove: async (queries, group) => {
      const { id: groupId, desiredRelease, revision } = group
      await request.alsoWrite?.(queries)
      if (!group.deployed || !desiredRelease) return undefined
      await writeDesiredRelease(queries, groupId, { sources: null, pending: false, revision })
      const placements = await readPlacements(queries, { groupIds: [groupId], stage: false })
      const agentIds = placements.map(({ agentId }) => agentId)
      await deletePlacements(queries, { groupId, stage: false }, agentIds)
      await releaseReplaced(queries)
      return { sources: desiredRelease, agentIds }
    },
  })
}

/** Also throws 'conflict' if there is no stage. */
export function dropStage(
  service: StateService,
  context: Context,
  request: VerbRequest,
): Promise<boolean> {
  return removeFromCaches(service, context, request, {
    action: 'delstage',
    remove: async (queries, { id }) => {
      const { sources } = await requireStage(queries, id)
      return { sources, agentIds: await endStage(queries, id) }
    },
  })
}

interface Removal {
  readonly action: 'undeploy' | 'delstage'
  /** Returns the removed release and its agents; undefined if there was none. */
  readonly remove: (
    queries: Queries,
    group: GroupRecord,
  ) => Promise<{ readonly sources: Release; readonly agentIds: readonly number[] } | undefined>
}

/** Removes it once no deploy of the group runs, then waits until the agents no longer hold it. */
async function removeFromCaches(
  service: StateService,
  context: Context,
  request: VerbRequest,
  { action, remove }: Removal,
): Promise<boolean> {
  const { actor, groupId, waitMs, percent } = request
  const untilMs = service.now() + waitMs
  const poll = () =>
    service.store.decide(async (queries): Promise<readonly number[] | undefined> => {
      const group = await requireGroup(queries, actor, groupId)
      if (await isInDeploy(queries, groupId)) return undefined
      await requireNoRollout(queries, groupId)
      const removed = await remove(queries, group)
      if (!removed) return []
      const { organizationId, revision } = group
      const { accountName: account } = actor
      const { sources, agentIds } = removed
      const made = { groupId, organizationId, revision, account, action, sources }
      await addHistory(queries, { ...made, at: service.now(), result: 'ok' })
      return recomposeDesired(queries, agentIds)
    })
  const agentIds = await watchAgents(service, poll, untilMs)
  if (agentIds === undefined)
    throw new FleetError('conflict', 'deploy', 'a deploy of this group is in progress')
  notifyDesiredChanged(service, agentIds, context.traceId)
  context.log.info({ group: groupId, agents: agentIds.length }, action)
  return waitUntilGone(service, agentIds, { percent, untilMs })
}
