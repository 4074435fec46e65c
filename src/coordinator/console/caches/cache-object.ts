/** Shared by all calls about one cache: how its id is read, and for which callers it is found. */
import type { ConsoleAccess } from '../../../resources/console-role.js'
import type { Actor } from '../../../resources/permission.js'
import type { Caller } from '../../engine/setting-commands.js'
import { aboutOne, type ConsoleNoun } from '../noun-routes.js'
import { cacheSchema, toCacheView } from './cache-views.js'
import { findCache, findOwnCache, type ConsoleCache } from './caches.js'
import type { StateService } from '../../service.js'

export function cacheNoun(service: StateService, find = findCache): ConsoleNoun<ConsoleCache> {
  return {
    kind: 'cache',
    names: { one: 'Cache', many: 'Caches' },
    schema: cacheSchema,
    view: toCacheView,
    find: (actor, id) => find(service, actor, id),
  }
}

/** Only the system administrator changes the cache of a shared agent. */
export function ownCacheNoun(service: StateService): ConsoleNoun<ConsoleCache> {
  return cacheNoun(service, findOwnCache)
}

/** Every caller who sees the cache may call. */
export function readingCache(service: StateService) {
  return aboutOne(cacheNoun(service), 'read')
}

export function changingCache(service: StateService, access: ConsoleAccess = 'write') {
  return aboutOne(ownCacheNoun(service), access)
}

/** The use cases of agents address a cache by its agent. */
export function asAgent(actor: Actor, { agent }: ConsoleCache): Caller {
  return { actor, agent }
}
