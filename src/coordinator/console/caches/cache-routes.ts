/** `/v1/cache`: list, rename and delete caches of the console. */
import { Type } from 'typebox'
import { route, type Route } from '../../http/route.js'
import { changeCache, deleteCache, listCaches } from './caches.js'
import type { StateService } from '../../service.js'
import { cacheNoun, changingCache, ownCacheNoun } from './cache-object.js'
import { getRoute, listRoutes, updateRoute } from '../noun-routes.js'
import { takePage } from '../pages.js'

export function cacheRoutes(service: StateService): readonly Route[] {
  const caches = cacheNoun(service)
  return [
    ...listRoutes(caches, {
      summary: 'All caches that you may see',
      read: (actor, page) => listCaches(service, actor, (ids) => takePage(ids, page)),
      wholeKey: 'caches',
    }),
    getRoute(caches, 'One cache'),
    updateRoute(ownCacheNoun(service), {
      summary: 'Merges name and description; a name of null is the composed one again',
      access: 'write',
      body: Type.Object({
        name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        description: Type.Optional(Type.String({ maxLength: 4096 })),
      }),
      run: ({ actor, object, body }) => changeCache(service, actor, object, body),
    }),
    route({
      // Deleting revokes the agent's key; users with write access to a group can take the cache out of it.
      ...changingCache(service, 'administer'),
      method: 'DELETE',
      path: '/v1/cache/{id}',
      operationId: 'deleteCache',
      summary:
        'Deletes the cache and revokes the key of its agent; 409 while it is in a group, or something is deployed',
      query: Type.Object({ force: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
      answers: { 204: null },
      handle: async ({ object, query }) => {
        await deleteCache(service, object, { force: query.force ?? false })
        return { status: 204 }
      },
    }),
  ]
}
