/** The routes of the console's resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { StateService } from '../state-service/service.js'
import { cacheEngineRoutes } from './cache-engine.js'
import { cacheParamRoutes } from './cache-params.js'
import { cacheRoutes } from './caches.js'
import { groupCacheRoutes } from './group-caches.js'
import { groupRoutes } from './groups.js'

export function consoleRoutes(service: StateService): readonly Route[] {
  return [
    ...cacheRoutes(service),
    ...cacheEngineRoutes(service),
    ...cacheParamRoutes(service),
    ...groupRoutes(service),
    ...groupCacheRoutes(service),
  ]
}
