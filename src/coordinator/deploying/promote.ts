/**
 * The staged sources become the group's: deployed with the group's own domains and deployments, and the stage ends with
 * the switch (choices: 3, Stage). A promote that fails leaves group and stage as they were.
 */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import type { Queries } from '../store/store.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { runVerb, type VerbAnswer, type VerbRequest } from './deploy.js'
import { flattenFiles, type Gathered } from '../groups/deploy-sources.js'
import { recallSources } from '../groups/recall-sources.js'
import { listStagedAgents, requireStage } from './stage-end.js'
import type { StateService } from '../service.js'
import { waitUntilLeft } from './switch-wait.js'

/** Throws FleetError: not-found, conflict (also without a stage), unavailable, uncompilable. */
export async function promoteVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  request: VerbRequest,
): Promise<VerbAnswer> {
  const { groupId, waitMs } = request
  const untilMs = service.now() + waitMs
  let staged: readonly number[] = []
  const answer = await runVerb(service, context, request, {
    ...{ actor, groupId, untilMs },
    action: 'promote',
    choose: async (queries, group) => {
      staged = await listStagedAgents(queries, groupId)
      return { gathered: await gatherStage(service, queries, group), naming: 'kept' }
    },
  })
  return answer.completed
    ? waitUntilLeft(service, { groupId, stage: false }, staged, untilMs)
    : answer
}

async function gatherStage(
  service: StateService,
  queries: Queries,
  group: GroupRecord,
): Promise<Gathered> {
  const { sources } = await requireStage(queries, group.id)
  const { domains, deployments } = group
  // The text is another one when the group got its first domains since, or lost them: the prologue comes or goes.
  if ((domains.length === 0) !== (sources.domains.length === 0))
    return flattenFiles(service, queries, group, sources)
  const deploymentIds = deployments.map(({ id }) => id)
  return recallSources(service, queries, group, { ...sources, domains, deploymentIds })
}
