/**
 * `/stats` and `/graph` below `/v1/cache/{id}` and `/v1/group/{id}`: counters of caches, from the archive (docs/behaviour.md,
 * Console caches and Statistics).
 */
import { parseObjectId } from '../../../resources/object-id.js'
import type { Route } from '../../http/route.js'
import { seriesRoutes, type SeriesSubject } from '../../statistics/series-routes.js'
import { findCache, type ConsoleCache } from './caches.js'
import { findGroup, type ConsoleGroup } from '../groups/groups.js'
import type { StateService } from '../../service.js'
import { askCache, askCaches } from '../../statistics/asked-caches.js'
import { openSeries } from '../../statistics/counter-series.js'

const permission = { console: 'read' } as const

export function cacheStatisticsRoutes(service: StateService): readonly Route[] {
  const ofCaches: SeriesSubject<ConsoleCache> = {
    path: '/v1/cache/{id}',
    noun: 'Cache',
    errorKey: 'cache',
    what: 'of a cache',
    permission,
    readId: (text) => parseObjectId('cache', text),
    find: (actor, id) => findCache(service, actor, id),
    open: (actor, { agent }, question) =>
      Promise.resolve(
        openSeries(service, { ...question, actor, caches: [askCache(actor, agent)] }),
      ),
  }
  const ofGroups: SeriesSubject<ConsoleGroup> = {
    path: '/v1/group/{id}',
    noun: 'Group',
    errorKey: 'group',
    what: 'summed over the caches of a group',
    permission,
    readId: (text) => parseObjectId('group', text),
    find: (actor, id) => findGroup(service, actor, id),
    open: async (actor, { agentIds }, question) =>
      openSeries(service, {
        ...question,
        actor,
        caches: await askCaches(service, actor, agentIds),
      }),
  }
  return [...seriesRoutes(ofCaches), ...seriesRoutes(ofGroups)]
}
