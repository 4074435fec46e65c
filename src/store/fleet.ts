/** The agents as placement sees them: state, tags, and what other groups hold there. */
import type { AgentState } from '../domain/agent-state.js'
import { groupBy } from '../domain/group-by.js'
import { visibleAgents, type Scope } from './scope.js'
import type { Queries } from './store.js'

export interface FleetAgent {
  readonly id: number
  readonly name: string
  readonly organizationId: number | null
  readonly state: AgentState
  readonly tagIds: readonly number[]
  /** The groups that have a place on it. */
  readonly groupIds: readonly number[]
  readonly rootGroupId: number | null
}

/** Three queries, however many agents there are. */
export async function readFleet(queries: Queries, scope: Scope): Promise<FleetAgent[]> {
  const agents = await queries
    .selectFrom('agents')
    .select(['id', 'name', 'organizationId', 'state'])
    .where(visibleAgents(scope))
    .orderBy('id')
    .execute()
  const tags = groupBy(
    await queries.selectFrom('agentTags').select(['agentId', 'tagId']).execute(),
    (row) => row.agentId,
  )
  const groups = groupBy(
    await queries
      .selectFrom('placements')
      .innerJoin('vclGroups', 'vclGroups.id', 'placements.groupId')
      .select(['placements.agentId', 'vclGroups.id', 'vclGroups.root'])
      // What failed before it ever served holds no place.
      .where((e) =>
        e.or([
          e('placements.currentName', 'is not', null),
          e('placements.candidateName', 'is not', null),
        ]),
      )
      .execute(),
    (row) => row.agentId,
  )
  return agents.map((agent) => {
    const held = groups.get(agent.id) ?? []
    return {
      ...agent,
      state: agent.state as AgentState, // written by the heartbeat and registration use cases only
      tagIds: (tags.get(agent.id) ?? []).map((row) => row.tagId),
      groupIds: held.map(({ id }) => id),
      rootGroupId: held.find(({ root }) => root === 1)?.id ?? null,
    }
  })
}
