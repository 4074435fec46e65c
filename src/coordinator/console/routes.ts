/** The routes of the console's resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { StateService } from '../state-service/service.js'
import { cacheStatisticsRoutes } from './cache-statistics.js'
import { cacheRoutes } from './caches.js'
import { groupBanRoutes } from './group-ban.js'
import { groupCacheRoutes } from './group-caches.js'
import { groupParamSetRoutes } from './group-paramset.js'
import { groupRoutes } from './groups.js'
import { paramSetRoutes } from './paramsets.js'

export function consoleRoutes(service: StateService): readonly Route[] {
  return [
    ...cacheRoutes(service),
    ...cacheStatisticsRoutes(service),
    ...groupRoutes(service),
    ...groupCacheRoutes(service),
    ...groupParamSetRoutes(service),
    ...groupBanRoutes(service),
    ...paramSetRoutes(service),
  ]
}
