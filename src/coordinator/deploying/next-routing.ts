/**
 * `GET /vclgroups/{id}/routing?next=true`: the generated VCL of each agent as a deploy of the group would make it now. An
 * organization sees its own groups and names in it only (choices: 2, Agents). Chosen by us: neither document foresees it.
 */
import { composeRouting, type PlacedPrograms } from '../../vcl/desired-engine.js'
import { groupBy } from '../../group-by.js'
import type { Actor } from '../../resources/permission.js'
import { readDeploymentsOf } from '../fleet/deployment-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { planPlacement } from '../placement/placement-plan.js'
import type { PlannedPlace } from '../placement/plan-schemas.js'
import type { StateService } from '../service.js'
import type { AgentRouting } from './routing.js'

/** Agents that would route nothing are left out. */
export async function readNextRouting(
  service: StateService,
  actor: Actor,
  group: GroupRecord,
): Promise<AgentRouting[]> {
  if (group.domains.length === 0) return []
  const agents = await foreseeAgents(service, actor, group)
  if (agents.length === 0) return []
  const agentIds = agents.map(({ agent }) => agent.id)
  const placements = groupBy(
    await readPlacements(service.store.queries, { agentIds }),
    ({ agentId }) => agentId,
  )
  const isSeen = ({ organizationId }: PlacedPrograms): boolean =>
    actor.organizationId === null || organizationId === actor.organizationId
  return agents.flatMap(({ agent, deployment }) => {
    const others = (placements.get(agent.id) ?? []).filter(
      ({ groupId, stage }) => groupId !== group.id || stage,
    )
    const own = deployment === null ? [] : [placeNext(group)]
    const routing = composeRouting([...others.filter(isSeen), ...own])
    return routing ? [{ agent, source: routing.text }] : []
  })
}

async function foreseeAgents(
  service: StateService,
  actor: Actor,
  { id, name, organizationId, domains, deployments }: GroupRecord,
): Promise<readonly PlannedPlace[]> {
  const ids = deployments.map((deployment) => deployment.id)
  const planned = await readDeploymentsOf(service.store.queries, ids)
  // Whoever looks: the group uses what its organization has.
  const [foreseen] = await planPlacement(
    service,
    { ...actor, organizationId },
    {
      groups: [
        {
          ...{ id, name, domains: domains.map(({ fqdn }) => fqdn) },
          deployments: planned.map((deployment) => deployment.name),
        },
      ],
      deployments: planned,
      undeployed: [],
    },
  )
  return foreseen?.agents ?? []
}

/** Its label does not hang on its text. */
function placeNext({ id, organizationId, domains }: GroupRecord): PlacedPrograms {
  const fqdns = domains.map(({ fqdn }) => fqdn)
  return {
    ...{ groupId: id, organizationId, candidate: null, previous: null },
    current: { name: '', sha: '', fqdns },
  }
}
