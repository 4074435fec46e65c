/** `/v1/cache`: the caches as the console lists, names and forgets them. */
import { Type } from 'typebox'
import { route, type Route } from '../../http/route.js'
import { mapRows } from '../../store/long-list.js'
import { changeCache, deleteCache, listCaches } from './caches.js'
import type { StateService } from '../../service.js'
import { changingCache, readingCache } from './cache-object.js'
import { cacheSchema, toCacheView } from './cache-views.js'
import { readPage, takePage } from '../pages.js'

const errorKey = 'cache'
const read = { console: 'read' } as const

export function cacheRoutes(service: StateService): readonly Route[] {
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
        listKey: 'caches',
        body: mapRows({ rows: await listCaches(service, actor) }, toCacheView),
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
        const rows = await listCaches(service, actor, (ids) => takePage(ids, page))
        return { status: 200, listKey: 'list', body: mapRows({ rows }, toCacheView) }
      },
    }),
    route({
      ...readingCache(service),
      method: 'GET',
      path: '/v1/cache/{id}',
      operationId: 'getCache',
      summary: 'One cache',
      answers: { 200: cacheSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toCacheView(object) }),
    }),
    route({
      ...changingCache(service),
      method: 'PATCH',
      path: '/v1/cache/{id}',
      operationId: 'updateCache',
      summary: 'Merges name and description; a name of null is the composed one again',
      body: Type.Object({
        name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        /** Chosen by us: a paragraph. */
        description: Type.Optional(Type.String({ maxLength: 4096 })),
      }),
      ignoresUnknownKeys: true,
      answers: { 200: cacheSchema },
      handle: async ({ actor, object, body }) => ({
        status: 200,
        body: toCacheView(await changeCache(service, actor, object, body)),
      }),
    }),
    route({
      // Chosen by us: it revokes the agent's key; who may write in a group takes the cache out of it.
      ...changingCache(service, 'administer'),
      method: 'DELETE',
      path: '/v1/cache/{id}',
      operationId: 'deleteCache',
      summary:
        'Forgets the cache and revokes the key of its agent; 409 while it is in a group, or something is deployed',
      query: Type.Object({ force: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
      answers: { 204: null },
      handle: async ({ object, query }) => {
        await deleteCache(service, object, { force: query.force ?? false })
        return { status: 204 }
      },
    }),
  ]
}
