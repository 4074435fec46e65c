/** Ends a stage: deletes its placements and its row; a promote makes its sources the group's own. */
import { updateGroup, type GroupRecord } from './group-queries.js'
import { deletePlacements, readPlacements } from './placement-queries.js'
import { deleteStage, findStage } from './stage-queries.js'
import type { Queries } from '../store/store.js'

export async function listStagedAgents(queries: Queries, groupId: number): Promise<number[]> {
  const placements = await readPlacements(queries, { groupIds: [groupId], stage: true })
  return placements.map(({ agentId }) => agentId)
}

/** Deletes its placements and its row; returns the agents that it was on. */
export async function endStage(queries: Queries, groupId: number): Promise<number[]> {
  const agentIds = await listStagedAgents(queries, groupId)
  await deletePlacements(queries, { groupId, stage: true }, agentIds)
  await deleteStage(queries, groupId)
  return agentIds
}

/** Makes the staged sources the group's own; returns the agents that the stage was on. */
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
    testIds: group.tests.map(({ id }) => id),
    requireTests: group.requireTests,
    domainIds: group.domains.map(({ id }) => id),
    deploymentIds: group.deployments.map(({ id }) => id),
    releases: group.releases,
    rollout: group.rollout,
    managedBy: group.managedBy,
  }
  await updateGroup(queries, group.id, fields, now)
  return endStage(queries, group.id)
}
