/** `/stats/{consolfunc}/{start}/{end}`: counters summed over all caches, over those with certain tags, or over listed ones. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { readIds, requireFound } from '../api/id-lists.js'
import { route, type Route } from '../http/route.js'
import { selectTags } from '../fleet/tag-queries.js'
import { scopeOf, type StateService } from '../service.js'
import { requireConsolidation, requireRange } from './archive/time-range.js'
import { askCaches, askVisibleCaches, type AskedCache } from './asked-caches.js'
import { openSeries } from './counter-series.js'
import { readNames, secondsSchema, seriesSchema } from './series-routes.js'

const errorKey = 'agent'
const closed = { additionalProperties: false }
/** For more caches, use a tag or all caches. */
const maxAgents = 100
const maxTags = 20
const agentIds = { name: 'agents', most: maxAgents, errorKey } as const
const tagIds = { name: 'tags', most: maxTags, errorKey } as const
const usual = ['client_req', 'cache_hit', 'cache_miss']

const answerSchema = Type.Object(
  {
    stats: Type.Array(seriesSchema),
    heard: Type.Array(Type.Object({ time: secondsSchema, value: Type.Integer() }, closed), {
      description: 'How many of the caches were measured in each row',
    }),
  },
  closed,
)
const querySchema = Type.Object(
  {
    counters: Type.Optional(
      Type.String({ description: `Names separated by commas; without it ${usual.join(', ')}` }),
    ),
    agents: Type.Optional(
      Type.String({ description: `ids of agents, at most ${maxAgents}`, examples: ['1,2,3'] }),
    ),
    tags: Type.Optional(
      Type.String({
        description: `ids of tags, at most ${maxTags}: caches that have all of them`,
      }),
    ),
  },
  closed,
)

export function fleetSeriesRoute(service: StateService): Route {
  return route({
    method: 'GET',
    path: '/stats/{consolfunc}/{start}/{end}',
    operationId: 'getFleetStats',
    summary:
      'Several counters, summed over all caches that you may see, those with some tags, or some of them',
    errorKey,
    permission: { type: 'stats', access: 'read', alsoReads: 'agent' },
    query: querySchema,
    answers: { 200: answerSchema },
    handle: async ({ actor, params, query }) => {
      const { consolfunc = '', start = '', end = '' } = params
      const source = openSeries(service, {
        actor,
        errorKey,
        consolidation: requireConsolidation(consolfunc, errorKey),
        range: requireRange({ start, end }, errorKey),
        caches: await findCaches(service, actor, query),
      })
      const names = query.counters === undefined ? usual : readNames(query.counters)
      return { status: 200, body: await source.readMeasured(names) }
    },
  })
}

/** Throws FleetError 'invalid' for a cache or tag that the caller may not see. */
async function findCaches(
  service: StateService,
  actor: Actor,
  { agents, tags }: { readonly agents?: string; readonly tags?: string },
): Promise<readonly AskedCache[]> {
  if (agents !== undefined && tags !== undefined)
    throw new FleetError(
      'invalid',
      errorKey,
      'agents and tags are both given; give only one of them',
    )
  if (agents !== undefined) {
    const ids = readIds(agents, agentIds)
    const caches = await askCaches(service, actor, ids)
    requireFound(ids, new Set(caches.map(({ agentId }) => agentId)), agentIds)
    return caches
  }
  const ids = tags === undefined ? [] : readIds(tags, tagIds)
  if (ids.length > 0) {
    const rows = await selectTags(service.store.queries, scopeOf(actor))
      .where('tags.id', 'in', [...ids])
      .execute()
    requireFound(ids, new Set(rows.map(({ id }) => id)), tagIds)
  }
  return askVisibleCaches(service, actor, ids)
}
