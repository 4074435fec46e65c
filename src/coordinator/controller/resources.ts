/** The routes of all resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { StateService } from '../state-service/service.js'
import { agentEngineRoutes } from './agent-engine.js'
import { agentRoutes } from './agents.js'
import { apiLogRoutes } from './apilogs.js'
import { refuseConsoleGroups } from './console-groups.js'
import { deploymentRoutes } from './deployments.js'
import { domainRoutes } from './domains.js'
import { fileCompileRoutes } from './file-compile.js'
import { fileVersionRoutes } from './file-versions.js'
import { fileRoutes } from './files.js'
import { groupVerbRoutes } from './group-verbs.js'
import { invalidationRoutes } from './invalidations.js'
import { joinTokenRoutes } from './jointokens.js'
import { placementPlanRoutes } from './placement-plan.js'
import { statisticsRoutes } from './statistics.js'
import { tagRoutes } from './tags.js'
import { vclGroupRoutes } from './vclgroups.js'
import { vclRoutes } from './vcls.js'

export function resourceRoutes(service: StateService): readonly Route[] {
  return [
    ...agentRoutes(service),
    ...agentEngineRoutes(service),
    ...tagRoutes(service),
    ...fileRoutes(service),
    ...fileVersionRoutes(service),
    ...fileCompileRoutes(service),
    ...vclRoutes(service),
    ...deploymentRoutes(service),
    ...domainRoutes(service),
    ...refuseConsoleGroups(vclGroupRoutes(service)),
    ...placementPlanRoutes(service),
    ...refuseConsoleGroups(groupVerbRoutes(service)),
    ...invalidationRoutes(service),
    ...statisticsRoutes(service),
    ...joinTokenRoutes(service),
    ...apiLogRoutes(service),
  ]
}
