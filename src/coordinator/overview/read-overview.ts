/** The parts of an overview, each as far as the caller may read it. */
import type { Overview } from '../../resources/overview.js'
import { may, type Actor, type PermissionType } from '../../resources/permission.js'
import { countAgents } from '../agents/agent-counts.js'
import { countGroupsByState } from '../placement/group-counts.js'
import { scopeOf, type StateService } from '../service.js'
import type { FleetFigures } from './fleet-figures.js'
import { readRecentChanges } from './recent-changes.js'

export async function readOverview(
  service: StateService,
  fleet: FleetFigures,
  actor: Actor,
): Promise<Overview> {
  const { queries } = service.store
  const scope = scopeOf(actor)
  const ofTypes = <Part>(types: readonly PermissionType[], read: () => Promise<Part>) =>
    types.every((type) => may(actor, type, 'read')) ? read() : Promise.resolve(null)
  const [agents, groups, now, hour, changes] = await Promise.all([
    ofTypes(['agent'], () => countAgents(service, scope)),
    ofTypes(['vclgroup'], () => countGroupsByState(queries, scope)),
    ofTypes(['stats', 'agent'], () => fleet.readNow(actor)),
    ofTypes(['stats', 'agent'], () => fleet.readHour(actor)),
    ofTypes(['apilog'], () => readRecentChanges(service, actor)),
  ])
  return {
    agents,
    groups,
    backends: null,
    now: now && now.now,
    hourBefore: hour && hour.hourBefore,
    lastHour: hour && hour.lastHour,
    worst: now && {
      agents: now.worstAgents,
      groups: may(actor, 'vclgroup', 'read') ? now.worstGroups : null,
    },
    problems: null,
    problemsTotal: null,
    changes,
  }
}
