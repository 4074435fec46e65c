/** The routes of the console's resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { Licensing } from '../state-service/console/license.js'
import type { Identity } from '../state-service/identity/identity.js'
import { cacheEngineRoutes } from './cache-engine.js'
import { cacheParamRoutes } from './cache-params.js'
import { cacheStatisticsRoutes } from './cache-statistics.js'
import { cacheRoutes } from './caches.js'
import { groupBanRoutes } from './group-ban.js'
import { groupCacheRoutes } from './group-caches.js'
import { groupParamSetRoutes } from './group-paramset.js'
import { groupVclRoutes } from './group-vcl.js'
import { groupRoutes } from './groups.js'
import { licenseRoutes } from './license.js'
import { messageRoutes } from './messages.js'
import { paramSetRoutes } from './paramsets.js'
import { schemaRoutes } from './schemas.js'
import { userRoutes } from './users.js'
import { commitRoutes } from './vcl-commits.js'
import { vclRoutes } from './vcls.js'

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
