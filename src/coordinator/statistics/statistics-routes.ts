/**
 * `/agents/{id}/stats`, the same for groups and domains, their graphs, `/stats` for all caches, and `/counters`: read from the
 * archive (docs/behaviour.md, Statistics).
 */
import { Type } from 'typebox'
import { defaultCounters } from '../../resources/counters.js'
import { route, type Route } from '../http/route.js'
import { readNames, secondsSchema } from './series-routes.js'
import { subjectRoutes } from './subject-routes.js'
import { findGroup } from '../fleet/group-queries.js'
import { scopeOf, type StateService } from '../service.js'
import { fleetSeriesRoute } from './fleet-series-route.js'
import { readNewestOfEach, readNewestValues } from './newest-values.js'
import { orNull } from '../api/references.js'

const read = { type: 'stats', access: 'read' } as const
const ofAgent = { ...read, alsoReads: 'agent' } as const
const ofGroup = { ...read, alsoReads: 'vclgroup' } as const
const closed = { additionalProperties: false }

const newestSchema = Type.Object(
  {
    time: orNull(secondsSchema),
    agents: Type.Integer({ description: 'Caches that reported recently' }),
    stats: Type.Array(Type.Object({ counter: Type.String(), value: Type.Number() }, closed)),
  },
  closed,
)
/** The counters for a table of caches: requests and hit ratios. */
const usualOfEach = ['client_req', 'cache_hit', 'cache_miss']
const newestOfEachSchema = Type.Object(
  {
    counters: Type.Array(Type.String({ description: 'As they were asked for' })),
    agents: Type.Array(
      Type.Object(
        {
          id: Type.Integer(),
          time: secondsSchema,
          values: Type.Array(orNull(Type.Number()), {
            description: 'Of each counter: events per second, or a level; null: not known',
          }),
        },
        closed,
      ),
      { description: 'Those that reported recently' },
    ),
  },
  closed,
)
const counterSchema = Type.Object(
  {
    name: Type.String(),
    kind: Type.Enum(['counter', 'gauge']),
    description: Type.String(),
  },
  closed,
)

export function statisticsRoutes(service: StateService): readonly Route[] {
  return [
    ...subjectRoutes(service),
    fleetSeriesRoute(service),
    route({
      method: 'GET',
      path: '/vclgroups/{id}/stats',
      operationId: 'getVclGroupNewestStats',
      summary:
        'The newest values, summed over the caches of a group: events per second, and levels',
      errorKey: 'vclgroup',
      permission: ofGroup,
      find: (_, actor, id) => findGroup(service.store.queries, scopeOf(actor), id),
      answers: { 200: newestSchema },
      handle: async ({ actor, object }) => ({
        status: 200,
        body: await readNewestValues(service, actor, object.id),
      }),
    }),
    route({
      method: 'GET',
      path: '/stats',
      operationId: 'listNewestStats',
      summary: 'The newest values of each cache that you may see',
      errorKey: 'agent',
      permission: ofAgent,
      query: Type.Object(
        {
          counters: Type.Optional(
            Type.String({
              description: `Names separated by commas, 10 at most; without it ${usualOfEach.join(', ')}`,
            }),
          ),
        },
        closed,
      ),
      answers: { 200: newestOfEachSchema },
      handle: async ({ actor, query }) => {
        const counters = query.counters === undefined ? usualOfEach : readNames(query.counters)
        const agents = await readNewestOfEach(service, actor, counters)
        return { status: 200, body: { counters, agents } }
      },
    }),
    route({
      method: 'GET',
      path: '/counters',
      operationId: 'listCounters',
      summary: 'The counters that are sampled of every cache that has them',
      errorKey: 'agent',
      permission: read,
      answers: { 200: Type.Array(counterSchema) },
      handle: () => Promise.resolve({ status: 200, body: defaultCounters }),
    }),
  ]
}
