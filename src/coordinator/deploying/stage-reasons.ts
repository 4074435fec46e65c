/** Explains which agents could take a stage of a group, whatever their tags (docs/behaviour.md, Stages). Changes nothing. */
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import type { Actor } from '../../resources/permission.js'
import type { PlacementReason } from '../../resources/vclgroup.js'
import { indexAgents } from '../fleet/agent-index.js'
import { isUsableBy, readFleet } from '../fleet/fleet.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { findConflict } from '../fleet/placement-conflict.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { noteOtherHolders, toPlacementInput } from '../placement/placing.js'
import { readNamesOf } from '../placement/replacing.js'
import { scopeOf, type StateService } from '../service.js'
import { readStagedDomains, type StageFiles } from './stage.js'

/** Returns a row for each agent that the caller may see; chosen ones could take the stage. `wanted`: `domains` of the stage's body. */
export async function explainStage(
  service: StateService,
  actor: Actor,
  group: GroupRecord,
  wanted: StageFiles['domains'],
): Promise<PlacementReason[]> {
  const { queries } = service.store
  const owner = group.organizationId
  const seen = await readFleet(queries, scopeOf(actor))
  const agents = indexAgents(seen.filter((agent) => isUsableBy(owner, agent)))
  const ownDomains = Boolean(wanted && wanted.length > 0)
  const placing = {
    group: {
      id: group.id,
      domains: await readStagedDomains(queries, group, wanted),
      releases: group.releases,
      stage: { tagIds: [], ownDomains, mainFileVersion: null },
    },
    deployments: [],
    agents,
    placements: await readPlacements(queries, { groupIds: [group.id], stage: true }),
    nameOf: await readNamesOf(queries, owner),
  }
  await noteOtherHolders(queries, placing)
  const input = toPlacementInput(placing)
  return seen.map(({ id, name }) => {
    const agent = agents.byId.get(id)
    const refusal =
      agent === undefined
        ? 'the agent belongs to another organization'
        : agent.state === agentStates.Running
          ? findConflict(input, agent)
          : `the agent is ${agentStateName(agent.state)}`
    const reason = refusal ?? 'it could take the stage'
    return { agent: { id, name }, deployment: null, chosen: refusal === null, reason }
  })
}
