/** The parts of an overview, each as far as the caller may read it. */
import type { Overview } from '../../resources/overview.js'
import { may, type Actor, type PermissionType } from '../../resources/permission.js'
import { listReadableBearers } from '../problems/open-problems.js'
import type { StateService } from '../service.js'
import type { FleetFigures } from './fleet-figures.js'
import type { FleetStates } from './fleet-states.js'
import { readRecentChanges } from './recent-changes.js'

export interface OverviewParts {
  readonly service: StateService
  readonly states: FleetStates
  readonly figures: FleetFigures
}

export async function readOverview(
  { service, states, figures }: OverviewParts,
  actor: Actor,
): Promise<Overview> {
  const ofTypes = <Part>(types: readonly PermissionType[], read: () => Promise<Part>) =>
    types.every((type) => may(actor, type, 'read')) ? read() : Promise.resolve(null)
  const [agents, groups, backends, problems, now, hour, changes] = await Promise.all([
    ofTypes(['agent'], () => states.countAgents(actor)),
    ofTypes(['vclgroup'], () => states.countGroups(actor)),
    ofTypes(['vclgroup', 'agent'], () => states.countBackends(actor)),
    listReadableBearers(actor).length === 0 ? null : states.readProblems(actor),
    ofTypes(['stats', 'agent'], () => figures.readNow(actor)),
    ofTypes(['stats', 'agent'], () => figures.readHour(actor)),
    ofTypes(['apilog'], () => readRecentChanges(service, actor)),
  ])
  return {
    agents,
    groups,
    backends,
    now: now && now.now,
    hourBefore: hour && hour.hourBefore,
    lastHour: hour && hour.lastHour,
    worst: now && {
      agents: now.worstAgents,
      groups: may(actor, 'vclgroup', 'read') ? now.worstGroups : null,
    },
    problems: problems && problems.problems,
    problemsTotal: problems && problems.total,
    changes,
  }
}
