/** What all calls about one cache share: how its id is read, and who finds it. */
import { parseObjectId } from '../../../resources/object-id.js'
import type { Actor } from '../../../resources/permission.js'
import type { Caller } from '../../engine/setting-commands.js'
import { findCache, findOwnCache, type ConsoleCache } from './caches.js'
import type { StateService } from '../../service.js'

type Find = (_: unknown, actor: Actor, id: number) => Promise<ConsoleCache | undefined>

interface CacheRoute {
  readonly errorKey: 'cache'
  readonly permission: { readonly console: 'read' | 'write' | 'administer' }
  readonly readId: (text: string) => number | undefined
  readonly find: Find
}

const readId = (text: string) => parseObjectId('cache', text)

/** Whoever sees the cache may call. */
export function readingCache(service: StateService): CacheRoute {
  const find: Find = (_, actor, id) => findCache(service, actor, id)
  return { errorKey: 'cache', permission: { console: 'read' }, readId, find }
}

/** A shared agent's cache is changed by the system administrator only. */
export function changingCache(
  service: StateService,
  access: 'write' | 'administer' = 'write',
): CacheRoute {
  const find: Find = (_, actor, id) => findOwnCache(service, actor, id)
  return { errorKey: 'cache', permission: { console: access }, readId, find }
}

/** To the use cases of agents a cache is its agent. */
export function asAgent(actor: Actor, { agent }: ConsoleCache): Caller {
  return { actor, agent }
}
