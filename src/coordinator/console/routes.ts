/** The routes of the console's resources, in the order of the documentation. */
import type { Route } from '../http/route.js'
import type { Licensing } from '../state-service/console/license.js'
import type { Identity } from '../state-service/identity/identity.js'
import { cacheRoutes } from './caches.js'
import { licenseRoutes } from './license.js'
import { messageRoutes } from './messages.js'
import { schemaRoutes } from './schemas.js'
import { userRoutes } from './users.js'

export function consoleRoutes(identity: Identity, licensing: Licensing): readonly Route[] {
  const { service } = identity
  return [
    ...cacheRoutes(service),
    ...messageRoutes(service),
    ...userRoutes(identity),
    ...licenseRoutes(licensing),
    ...schemaRoutes(),
  ]
}
