/**
 * How a stage ends: dropped, or promoted by a deploy of its sources. Until that deploy switches, the stage serves on; where
 * its group takes its place, both are loaded, and the routing VCL of the switch is compiled without the stage.
 */
import { holderId } from '../fleet/agent-index.js'
import { FleetError } from '../../errors.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { addHistory } from '../fleet/history-queries.js'
import {
  deletePlacements,
  readPlacements,
  type PlacementRecord,
} from '../fleet/placement-queries.js'
import { markReplaced } from '../fleet/replaced-places.js'
import { deleteStage, findStage, type StageRecord } from '../fleet/stage-queries.js'
import type { Queries } from '../store/store.js'
import { updateGroup, type GroupRecord } from '../fleet/group-queries.js'

/** Throws 'conflict' when there is none. */
export async function requireStage(queries: Queries, groupId: number): Promise<StageRecord> {
  const stage = await findStage(queries, groupId)
  if (!stage) throw new FleetError('conflict', 'deploy', 'the group is not staged; stage it first')
  return stage
}

export async function listStagedAgents(queries: Queries, groupId: number): Promise<number[]> {
  const placements = await readPlacements(queries, { groupIds: [groupId], stage: true })
  return placements.map(({ agentId }) => agentId)
}

/** Its places and its row; answers the agents that it was on. */
export async function endStage(queries: Queries, groupId: number): Promise<number[]> {
  const agentIds = await listStagedAgents(queries, groupId)
  await deletePlacements(queries, { groupId, stage: true }, agentIds)
  await deleteStage(queries, groupId)
  return agentIds
}

/** What was staged is the group's own from now on; answers the agents that the stage was on. */
export async function promoteStage(
  queries: Queries,
  group: GroupRecord,
  now: number,
): Promise<number[]> {
  const stage = await findStage(queries, group.id)
  if (!stage) return []
  const { mainVCL, includes, stage: target } = stage.sources
  const fields = {
    name: group.name,
    root: group.root,
    keepOnFailure: group.keepOnFailure,
    mainFileId: mainVCL.id,
    mainFileVersion: target.mainFileVersion,
    includeIds: includes.map(({ id }) => id),
    domainIds: group.domains.map(({ id }) => id),
    deploymentIds: group.deployments.map(({ id }) => id),
    managedBy: group.managedBy,
  }
  await updateGroup(queries, group.id, fields, now)
  return endStage(queries, group.id)
}

interface PromoteInPlace {
  readonly group: GroupRecord
  readonly account: string
  readonly now: number
}

/** The group serves these sources already: only the stage ends. Answers the agents whose desired state changed. */
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
    sources: group.wish ?? sources,
  })
  return recomposeDesired(queries, agentIds)
}

/** Phase one of a promote: where a candidate of the group is loaded beside the stage, the stage is about to go. */
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
