/** `/v1/cache/{id}/stats` and `/graph`: what a cache counted, from the archive (choices: 6 and 7). */
import { parseObjectId } from '../../domain/object-id.js'
import type { Route } from '../http/route.js'
import { seriesRoutes } from '../http/series-routes.js'
import { findCache } from '../state-service/console/caches.js'
import type { StateService } from '../state-service/service.js'
import { askCache } from '../state-service/statistics/asked-caches.js'
import { openSeries } from '../state-service/statistics/counter-series.js'

export function cacheStatisticsRoutes(service: StateService): readonly Route[] {
  return seriesRoutes({
    ...{ path: '/v1/cache/{id}', noun: 'Cache', errorKey: 'cache', what: 'of a cache' },
    permission: { console: 'read' },
    readId: (text) => parseObjectId('cache', text),
    find: (actor, id) => findCache(service, actor, id),
    open: (actor, { agent }, question) =>
      Promise.resolve(openSeries(service, { ...question, caches: [askCache(actor, agent)] })),
  })
}
