/** The routes of all resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { agentEngineRoutes } from '../engine/engine-routes.js'
import { agentRoutes } from '../agents/agent-routes.js'
import { maintenanceRoutes } from '../agents/maintenance-routes.js'
import { backendRoutes } from '../backends/backend-routes.js'
import { apiLogRoutes } from '../api-log/api-log-routes.js'
import { refuseConsoleGroups } from '../groups/console-groups.js'
import { deploymentRoutes } from '../deployments/deployment-routes.js'
import { domainRoutes } from '../domains/domain-routes.js'
import { fileCompileRoutes } from '../deploying/compile-routes.js'
import { fileVersionRoutes } from '../files/version-routes.js'
import { fileRoutes, vclRoutes } from '../files/file-routes.js'
import { groupVerbRoutes } from '../deploying/verb-routes.js'
import { invalidationRoutes } from '../invalidations/invalidation-routes.js'
import { joinTokenRoutes } from '../registration/join-token-routes.js'
import { overviewRoutes } from '../overview/overview-routes.js'
import { markRoutes } from '../marks/mark-routes.js'
import { placementPlanRoutes } from '../placement/plan-routes.js'
import { statisticsRoutes } from '../statistics/statistics-routes.js'
import { rolloutRoutes } from '../rollouts/rollout-routes.js'
import { tagRoutes } from '../tags/tag-routes.js'
import { vclGroupRoutes } from '../groups/group-routes.js'

export function resourceRoutes(service: StateService): readonly Route[] {
  return [
    ...overviewRoutes(service),
    ...agentRoutes(service),
    ...maintenanceRoutes(service),
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
    ...rolloutRoutes(service),
    ...invalidationRoutes(service),
    ...backendRoutes(service),
    ...statisticsRoutes(service),
    ...markRoutes(service),
    ...joinTokenRoutes(service),
    ...apiLogRoutes(service),
  ]
}
