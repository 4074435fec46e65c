/** The routes of the console's resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { StateService } from '../state-service/service.js'
import { cacheStatisticsRoutes } from './cache-statistics.js'
import { cacheRoutes } from './caches.js'
import { paramSetRoutes } from './paramsets.js'

export function consoleRoutes(service: StateService): readonly Route[] {
  return [...cacheRoutes(service), ...cacheStatisticsRoutes(service), ...paramSetRoutes(service)]
}
