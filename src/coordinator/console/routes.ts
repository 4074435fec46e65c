/** The routes of the console's resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { Licensing } from './license.js'
import type { Identity } from '../identity/identity.js'
import { cacheEngineRoutes } from './caches/engine-routes.js'
import { cacheParamRoutes } from './caches/param-routes.js'
import { cacheStatisticsRoutes } from './caches/statistics-routes.js'
import { cacheRoutes } from './caches/cache-routes.js'
import { groupBanRoutes } from './groups/ban-routes.js'
import { groupCacheRoutes } from './groups/cache-routes.js'
import { groupParamSetRoutes } from './groups/paramset-routes.js'
import { groupVclRoutes } from './groups/vcl-routes.js'
import { groupRoutes } from './groups/group-routes.js'
import { licenseRoutes } from './license-routes.js'
import { messageRoutes } from './message-routes.js'
import { paramSetRoutes } from './paramsets/paramset-routes.js'
import { schemaRoutes } from './schemas.js'
import { userRoutes } from './users/user-routes.js'
import { commitRoutes } from './vcls/commit-routes.js'
import { vclRoutes } from './vcls/vcl-routes.js'

export function consoleRoutes(identity: Identity, licensing: Licensing): readonly Route[] {
  const { service } = identity
  return [
    ...cacheRoutes(service),
    ...cacheEngineRoutes(service),
    ...cacheParamRoutes(service),
    ...cacheStatisticsRoutes(service),
    ...groupRoutes(service),
    ...groupCacheRoutes(service),
    ...groupParamSetRoutes(service),
    ...groupBanRoutes(service),
    ...groupVclRoutes(service),
    ...vclRoutes(service),
    ...commitRoutes(service),
    ...paramSetRoutes(service),
    ...messageRoutes(service),
    ...userRoutes(identity),
    ...licenseRoutes(licensing),
    ...schemaRoutes(),
  ]
}
