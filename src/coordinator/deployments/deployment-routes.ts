/** `/deployments`: which agents groups are placed on, chosen by tags, and how many. */
import { deployment } from '../../resources/deployment.js'
import { resourceRoutes } from '../api/resource-routes.js'
import { findDeployment } from '../fleet/deployment-queries.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { deploymentSchema, toDeploymentView } from './deployment-view.js'
import {
  createDeployment,
  deleteDeployment,
  deploymentListing,
  updateDeployment,
  viewDeployment,
} from './deployments.js'

export function deploymentRoutes(service: StateService): readonly Route[] {
  return resourceRoutes(service, {
    resource: deployment,
    title: 'Deployment',
    summaries: {
      list: 'Deployments with their state and agents',
      create: 'Creates a deployment: agents with all of these tags, at least min, at most max',
      get: 'One deployment',
      update: 'Changes a deployment; placement follows at once',
      delete: 'Deletes a deployment; 409 while a VCL group has it',
    },
    listing: deploymentListing,
    listed: deploymentSchema,
    toListed: toDeploymentView,
    find: findDeployment,
    answer: deploymentSchema,
    view: viewDeployment,
    toAnswer: toDeploymentView,
    create: createDeployment,
    force: 'also when a deployed group falls below its min by this',
    update: updateDeployment,
    remove: deleteDeployment,
  })
}
