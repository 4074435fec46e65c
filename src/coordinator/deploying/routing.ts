/**
 * `GET /vclgroups/{id}/routing` (choices: 3): the generated VCL that is wanted active on each agent where the group
 * or its stage serves. An organization sees its own groups and names in it only (choices: 2, Agents).
 */
import { composeRouting } from '../../vcl/desired-engine.js'
import { groupBy } from '../../group-by.js'
import type { Actor } from '../../resources/permission.js'
import { readGroupPlaces } from '../fleet/group-places.js'
import type { NamedReference } from '../store/owner.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import type { StateService } from '../service.js'

export interface AgentRouting {
  readonly agent: NamedReference
  readonly source: string
}

/** None for a group whose VCL is the whole VCL of its caches. */
export async function readGroupRouting(
  service: StateService,
  { organizationId }: Pick<Actor, 'organizationId'>,
  group: Pick<GroupRecord, 'id'>,
): Promise<AgentRouting[]> {
  const { queries } = service.store
  const places = await readGroupPlaces(queries, [group.id], { withStages: true })
  if (places.length === 0) return []
  const agentIds = places.map(({ agentId }) => agentId)
  const placements = groupBy(await readPlacements(queries, { agentIds }), ({ agentId }) => agentId)
  // A group and its stage may share an agent.
  const agents = new Map(places.map(({ agentId, agentName }) => [agentId, agentName]))
  return [...agents].flatMap(([agentId, agentName]) => {
    const all = placements.get(agentId) ?? []
    if (!all.some(({ groupId, current }) => groupId === group.id && current?.fqdns)) return []
    const seen = all.filter(
      (place) => organizationId === null || place.organizationId === organizationId,
    )
    const routing = composeRouting(seen)
    return routing ? [{ agent: { id: agentId, name: agentName }, source: routing.text }] : []
  })
}
