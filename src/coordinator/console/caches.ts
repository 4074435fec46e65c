/** `/v1/cache`: the caches as the console lists them. */
import { Type } from 'typebox'
import { parseObjectId } from '../../domain/object-id.js'
import type { Actor } from '../../domain/permission.js'
import { route, type Route } from '../http/route.js'
import { findCache, listCaches } from '../state-service/console/caches.js'
import type { StateService } from '../state-service/service.js'
import { cacheSchema, toCacheView } from './cache-views.js'
import { readPage, takePage } from './pages.js'

const errorKey = 'cache'
const read = { console: 'read' } as const

export function cacheRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findCache(service, actor, id)
  const readId = (text: string) => parseObjectId('cache', text)
  return [
    route({
      method: 'GET',
      path: '/v1/cache',
      operationId: 'listCaches',
      summary: 'All caches that you may see',
      errorKey,
      permission: read,
      answers: { 200: Type.Object({ caches: Type.Array(cacheSchema) }) },
      handle: async ({ actor }) => ({
        status: 200,
        body: { caches: (await listCaches(service, actor)).map(toCacheView) },
      }),
    }),
    route({
      method: 'GET',
      path: '/v1/cache/{page}/{items}',
      operationId: 'listCachesByPage',
      summary: 'A page of them',
      errorKey,
      permission: read,
      answers: { 200: Type.Object({ list: Type.Array(cacheSchema) }) },
      handle: async ({ actor, params }) => {
        const page = readPage(params, errorKey)
        const caches = takePage(await listCaches(service, actor), page)
        return { status: 200, body: { list: caches.map(toCacheView) } }
      },
    }),
    route({
      method: 'GET',
      path: '/v1/cache/{id}',
      operationId: 'getCache',
      summary: 'One cache',
      errorKey,
      permission: read,
      readId,
      find,
      answers: { 200: cacheSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toCacheView(object) }),
    }),
  ]
}
