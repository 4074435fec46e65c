/** Would this group deploy: placement is decided and the VCL compiled on fitting agents, nothing is kept or changed. */
import type { Context } from '../../context.js'
import { indexAgents } from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { readFleet, type FleetAgent } from '../fleet/fleet.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { findFitting } from '../fleet/placement-target.js'
import { scopeOfOwner } from '../store/scope.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import { findGroup, type GroupRecord } from '../fleet/group-queries.js'
import { compileOnAgents } from './compile-on-agents.js'
import { gatherSources } from '../groups/deploy-sources.js'
import { decidePlacement } from '../placement/placing.js'
import { scopeOf, type StateService } from '../service.js'
import { readNamesOf } from '../placement/replacing.js'
import { describeShortages } from '../placement/shortage.js'

/** `one`: the first that a deploy would use. `all`: every running agent that fits one of the deployments. */
type ValidatedAgents = 'one' | 'all'

interface ValidateRequest {
  readonly groupId: number
  readonly agents: ValidatedAgents
  /** Also run vcl_init. */
  readonly init: boolean
}

/** Throws FleetError as a deploy would: not-found, uncompilable, conflict, unavailable; timed-out. */
export async function validateVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  { groupId, agents: wanted, init }: ValidateRequest,
): Promise<void> {
  const group = await findGroup(service.store.queries, scopeOf(actor), groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${groupId} was not found`)
  const gathered = await gatherSources(service, group)
  if ('error' in gathered) throw new FleetError('uncompilable', 'deploy', gathered.error)
  const agents = await chooseAgents(service, group, wanted)
  await compileOnAgents(service, context, agents, {
    ...{ source: gathered.source, errorKey: 'deploy', init },
    owner: group.organizationId,
  })
}

/** Throws 'conflict' or 'unavailable' as a deploy would. */
async function chooseAgents(
  service: StateService,
  group: GroupRecord,
  wanted: ValidatedAgents,
): Promise<readonly FleetAgent[]> {
  const { queries } = service.store
  const fleet = await readFleet(queries, scopeOfOwner(group.organizationId))
  const deploymentIds = group.deployments.map(({ id }) => id)
  const deployments = await readDeploymentsOfGroup(queries, group.id, deploymentIds)
  const agents = indexAgents(fleet)
  const placements = await readPlacements(queries, { groupIds: [group.id], stage: false })
  const decision = await decidePlacement(queries, { group, deployments, agents, placements })
  const shortage = describeShortages(decision, deployments, {
    agents: fleet,
    nameOf: await readNamesOf(queries, group.organizationId),
  })
  if (shortage) throw new FleetError(shortage.kind, 'deploy', shortage.message)
  const [first] = [...decision.keep, ...decision.add]
  const fitting = deployments.flatMap(({ target }) => findFitting(agents, target))
  const ids = new Set(wanted === 'one' ? [first?.agentId] : fitting.map(({ id }) => id))
  const chosen = fleet.filter(({ id, state }) => ids.has(id) && state === agentStates.Running)
  if (chosen.length === 0)
    throw new FleetError('unavailable', 'deploy', 'no agent is there to compile on')
  return chosen
}
