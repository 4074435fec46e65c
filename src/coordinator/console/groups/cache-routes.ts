/** `/v1/group/{id}/cache/{cacheId}`: which caches are in a group. */
import type { Route } from '../../http/route.js'
import { cacheNoun } from '../caches/cache-object.js'
import { joinGroup, leaveGroup } from './group-caches.js'
import type { StateService } from '../../service.js'
import { relationRoutes } from './relation-routes.js'

export function groupCacheRoutes(service: StateService): readonly Route[] {
  return relationRoutes(service, cacheNoun(service), {
    give: {
      operationId: 'addCacheToGroup',
      summary: 'Adds a cache to the group; what is deployed is deployed there too',
      run: ({ context, actor, object: group }, { agent: { id: agentId } }) =>
        joinGroup(service, actor, { context, group, agentId }),
    },
    take: {
      operationId: 'removeCacheFromGroup',
      summary: 'Removes a cache from the group; it runs the idle VCL then',
      run: ({ context, actor, object: group }, { agent: { id: agentId } }) =>
        leaveGroup(service, actor, { context, group, agentId }),
    },
  })
}
