/** `/v1/group/{id}/cache/{cacheId}`: which caches are in a group. */
import { parseObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { route, type Route } from '../../http/route.js'
import { findCache } from '../caches/caches.js'
import { joinGroup, leaveGroup } from './group-caches.js'
import type { StateService } from '../../service.js'
import { groupById } from './group-routes.js'

const path = '/v1/group/{id}/cache/{cacheId}'
const permission = { console: 'write' } as const

export function groupCacheRoutes(service: StateService): readonly Route[] {
  const byId = groupById(service)
  return [
    route({
      ...byId,
      method: 'PUT',
      path,
      operationId: 'addCacheToGroup',
      summary: 'Takes a cache into the group; what is deployed is deployed there too',
      permission,
      answers: { 204: null },
      handle: async ({ context, actor, object: group, params }) => {
        const agentId = await requireCacheId(service, actor, params['cacheId'])
        await joinGroup(service, actor, { context, group, agentId })
        return { status: 204 }
      },
    }),
    route({
      ...byId,
      method: 'DELETE',
      path,
      operationId: 'removeCacheFromGroup',
      summary: 'Takes a cache out of the group; it runs the idle VCL then',
      permission,
      answers: { 204: null },
      handle: async ({ context, actor, object: group, params }) => {
        const agentId = await requireCacheId(service, actor, params['cacheId'])
        await leaveGroup(service, actor, { context, group, agentId })
        return { status: 204 }
      },
    }),
  ]
}

async function requireCacheId(service: StateService, actor: Actor, text = ''): Promise<number> {
  const id = parseObjectId('cache', text)
  const cache = id === undefined ? undefined : await findCache(service, actor, id)
  if (!cache) throw new FleetError('not-found', 'cache', `${text.slice(0, 100)} was not found`)
  return cache.agent.id
}
