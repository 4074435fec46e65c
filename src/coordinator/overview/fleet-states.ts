/** How many agents and groups are in which state. What was counted is believed until an event says that something changed. */
import { createReadCache } from '../../runtime/bounded-cache.js'
import { countAgents } from '../agents/agent-counts.js'
import { eventsSubject } from '../bus/subjects.js'
import { countGroupsByState, type GroupCounts } from '../placement/group-counts.js'
import type { StateService } from '../service.js'
import type { Scope } from '../store/scope.js'

export interface FleetStates {
  countAgents(scope: Scope): ReturnType<typeof countAgents>
  countGroups(scope: Scope): Promise<GroupCounts>
}

/** Organizations whose counts are remembered. */
const most = 200
/** The bus delivers at most once. */
const withoutHintMs = 2_000

export function createFleetStates(service: StateService): FleetStates {
  const options = { most, now: service.now, believedMs: withoutHintMs }
  const agents = createReadCache<Awaited<ReturnType<typeof countAgents>>>(options)
  const groups = createReadCache<GroupCounts>(options)
  service.bus.subscribe(eventsSubject, () => {
    agents.clear()
    groups.clear()
  })
  return {
    countAgents: (scope) => agents.read(JSON.stringify(scope), () => countAgents(service, scope)),
    countGroups: (scope) =>
      groups.read(JSON.stringify(scope), () => countGroupsByState(service.store.queries, scope)),
  }
}
