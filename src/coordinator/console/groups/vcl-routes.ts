/** `/v1/group/{id}/vcl/{vclId}`: which branch a group has, and its deploy to the group's caches (choices: 6). */
import { Type } from 'typebox'
import { isDeployed, type Outcome } from './group-deploy.js'
import { parseObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { route, type Route } from '../../http/route.js'
import {
  deployBranch,
  giveBranch,
  takeBranch,
  type DeployedCacheOutcome,
  type GroupDeploy,
} from './group-vcl.js'
import { findBranch, type BranchRecord } from '../vcls/vcls.js'
import type { StateService } from '../../service.js'
import { toCacheView } from '../caches/cache-views.js'
import { groupById } from './group-routes.js'

const path = '/v1/group/{id}/vcl/{vclId}'
const permission = { console: 'write' } as const

const outcomesSchema = Type.Array(
  Type.Object({
    cacheId: Type.String(),
    name: Type.String(),
    statusCode: Type.Integer({
      description: '200; 202 on its way; 400 refused by the cache; 503 the cache is not there',
    }),
    message: Type.String(),
  }),
)

export function groupVclRoutes(service: StateService): readonly Route[] {
  const byId = groupById(service)
  return [
    route({
      ...byId,
      method: 'PUT',
      path,
      operationId: 'addVclToGroup',
      summary: 'Gives the group a branch, in place of another; caches get it at the next deploy',
      permission,
      answers: { 204: null },
      handle: async ({ actor, object: group, params }) => {
        const branch = await requireBranch(service, actor, params['vclId'])
        await giveBranch(service, { group, branch })
        return { status: 204 }
      },
    }),
    route({
      ...byId,
      method: 'DELETE',
      path,
      operationId: 'removeVclFromGroup',
      summary:
        'Takes its branch from the group; where it is deployed, caches run the idle VCL then',
      permission,
      answers: { 204: null },
      handle: async ({ context, actor, object: group, params }) => {
        const branch = await requireBranch(service, actor, params['vclId'])
        await takeBranch(service, context, actor, { group, branch })
        return { status: 204 }
      },
    }),
    route({
      ...byId,
      method: 'PUT',
      path: `${path}/deploy`,
      operationId: 'deployVcl',
      summary:
        'Deploys the head of a branch to the caches of the group, on all that take it or on none',
      permission,
      answers: {
        200: Type.Object({
          success: Type.Boolean({ description: 'Every cache of the group serves it' }),
          compilationData: outcomesSchema,
          deployData: outcomesSchema,
          message: Type.String({ description: 'Why it was not deployed' }),
        }),
      },
      handle: async ({ context, actor, object: group, params }) => {
        const branch = await requireBranch(service, actor, params['vclId'])
        const deployed = await deployBranch(service, context, actor, { group, branch })
        return { status: 200, body: toDeployView(deployed) }
      },
    }),
  ]
}

function toDeployView({ outcomes, message }: GroupDeploy): object {
  const toView = (agent: DeployedCacheOutcome['agent'], outcome: Outcome) => {
    const { id: cacheId, name } = toCacheView({ agent, group: null })
    return { cacheId, name, ...outcome }
  }
  return {
    success: isDeployed(outcomes),
    compilationData: outcomes.map(({ agent, compilation }) => toView(agent, compilation)),
    deployData: outcomes.map(({ agent, deploy }) => toView(agent, deploy)),
    message,
  }
}

async function requireBranch(
  service: StateService,
  actor: Actor,
  text = '',
): Promise<BranchRecord> {
  const id = parseObjectId('vcl', text)
  const branch = id === undefined ? undefined : await findBranch(service, actor, id)
  if (!branch) throw new FleetError('not-found', 'vcl', `${text.slice(0, 100)} was not found`)
  return branch
}
