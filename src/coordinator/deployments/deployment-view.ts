/** What the API answers of deployments. */
import { Type } from 'typebox'
import {
  idSchema,
  managedBySchema,
  organizationSchema,
  referenceSchema,
  timeSchema,
} from '../api/references.js'
import type { DeploymentView } from './deployments.js'
import { toTimes } from '../api/times.js'

const closed = { additionalProperties: false }

export const deploymentSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String(),
    organization: organizationSchema,
    min: Type.Integer({ minimum: 1 }),
    max: Type.Integer({ minimum: 1 }),
    tags: Type.Array(referenceSchema),
    state: Type.Integer({
      description: '1 Active, 2 Inactive, 3 Degraded, 4 Error, 5 Orphan, 6 Deploying',
    }),
    stateName: Type.String(),
    agents: Type.Array(referenceSchema, { description: 'Where groups are placed by it' }),
    managedBy: managedBySchema,
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

/** What stands in its own row. */
export function toDeploymentFields(deployment: DeploymentView['deployment']) {
  return {
    id: deployment.id,
    name: deployment.name,
    organization: deployment.organization,
    min: deployment.min,
    max: deployment.max,
    tags: deployment.tags,
    managedBy: deployment.managedBy,
    ...toTimes(deployment),
  }
}

export function toDeploymentView({ deployment, state, stateName, agents }: DeploymentView) {
  return { ...toDeploymentFields(deployment), state, stateName, agents }
}
