/** `/v1/group/{id}/vcl/{vclId}`: which branch a group has, and its deploy to the group's caches (docs/behaviour.md, Console VCL). */
import { Type } from 'typebox'
import { isDeployed, type Outcome } from './group-deploy.js'
import { route, type Route } from '../../http/route.js'
import {
  deployBranch,
  giveBranch,
  takeBranch,
  type DeployedCacheOutcome,
  type GroupDeploy,
} from './group-vcl.js'
import type { StateService } from '../../service.js'
import { toCacheView } from '../caches/cache-views.js'
import { aboutOne } from '../noun-routes.js'
import { branchNoun } from '../vcls/vcl-routes.js'
import { groupNoun } from './group-routes.js'
import { relationPath, relationRoutes, requireRelated } from './relation-routes.js'

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
  const branches = branchNoun(service)
  return [
    ...relationRoutes(service, branches, {
      give: {
        operationId: 'addVclToGroup',
        summary: 'Gives the group a branch, in place of another; caches get it at the next deploy',
        run: ({ object: group }, branch) => giveBranch(service, { group, branch }),
      },
      take: {
        operationId: 'removeVclFromGroup',
        summary:
          'Removes the branch from the group; where it is deployed, caches run the idle VCL then',
        run: ({ context, actor, object: group }, branch) =>
          takeBranch(service, context, actor, { group, branch }),
      },
    }),
    route({
      ...aboutOne(groupNoun(service), 'write'),
      method: 'PUT',
      path: `${relationPath(branches)}/deploy`,
      operationId: 'deployVcl',
      summary: 'Deploys the head of a branch to the caches of the group, on all caches or on none',
      answers: {
        200: Type.Object({
          success: Type.Boolean({ description: 'Every cache of the group serves it' }),
          compilationData: outcomesSchema,
          deployData: outcomesSchema,
          message: Type.String({ description: 'Why it was not deployed' }),
        }),
      },
      handle: async (call) => {
        const { context, actor, object: group } = call
        const branch = await requireRelated(branches, call)
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
