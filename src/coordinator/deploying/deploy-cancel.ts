/**
 * Ending a deploy that loads: its row goes with the candidates in one decision, so nothing switches, whichever coordinator runs
 * the deploy; that one finds the row gone and answers its caller.
 */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { readDeploys } from '../fleet/deploy-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { tellAgentsChanged } from '../agents/agent-hints.js'
import type { StateService } from '../service.js'
import { decideDeploy } from './deploy-decision.js'
import { describeCancel } from './deploy-end.js'

/** Throws 'conflict' when no deploy of the group is in its first phase. */
export async function cancelDeploy(
  service: StateService,
  context: Context,
  actor: Actor,
  { id: groupId }: { readonly id: number },
): Promise<void> {
  const { queries } = service.store
  const [deploy] = await readDeploys(queries, [groupId])
  if (!deploy) throw nothingLoads()
  const loading = await readPlacements(queries, { groupIds: [groupId] })
  const message = describeCancel(actor.accountName)
  const { error } = await decideDeploy(service, context, deploy, { kind: 'conflict', message })
  // Decided meanwhile: it switches, or was given up.
  if (error?.message !== message) throw nothingLoads()
  // Who runs the deploy, and who waits for its turn, look again.
  tellAgentsChanged(
    service,
    loading.map(({ agentId }) => agentId),
  )
}

function nothingLoads(): FleetError {
  const message =
    'no deploy of this group is loading, so there is none to cancel; what switches cannot be stopped'
  return new FleetError('conflict', 'deploy', message)
}
