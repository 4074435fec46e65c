/** The routes of the console's resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { StateService } from '../state-service/service.js'
import { cacheEngineRoutes } from './cache-engine.js'
import { cacheParamRoutes } from './cache-params.js'
import { cacheRoutes } from './caches.js'
import { groupCacheRoutes } from './group-caches.js'
import { groupVclRoutes } from './group-vcl.js'
import { groupRoutes } from './groups.js'
import { commitRoutes } from './vcl-commits.js'
import { vclRoutes } from './vcls.js'

export function consoleRoutes(service: StateService): readonly Route[] {
  return [
    ...cacheRoutes(service),
    ...cacheEngineRoutes(service),
    ...cacheParamRoutes(service),
    ...groupRoutes(service),
    ...groupCacheRoutes(service),
    ...groupVclRoutes(service),
    ...vclRoutes(service),
    ...commitRoutes(service),
  ]
}
