/** `/v1/group/{id}/ban`: a ban for all caches of a group, with its outcome on each (docs/behaviour.md, Console bans). */
import { Type } from 'typebox'
import type { ResultState } from '../../invalidations/invalidation.js'
import { toObjectId } from '../../../resources/object-id.js'
import { route, type Route } from '../../http/route.js'
import { banInGroup, type GroupBanView } from './group-ban.js'
import type { StateService } from '../../service.js'
import { toCacheView } from '../caches/cache-views.js'
import { aboutOne } from '../noun-routes.js'
import { groupNoun } from './group-routes.js'

const banSchema = Type.Object({
  id: Type.Integer({ description: 'Of the invalidation, which the controller goes on telling of' }),
  state: Type.Integer({
    description: '1 Running, 2 Completed, 3 Failed, 4 Retrying, 5 Waiting, 6 Cancelled',
  }),
  done: Type.Integer(),
  total: Type.Integer(),
  results: Type.Array(
    Type.Object({
      cacheId: Type.String(),
      name: Type.String(),
      status: Type.Integer({ description: '200 done, 202 not yet, else why it was not done' }),
      message: Type.String(),
    }),
  ),
})

/** 400: the cache refused it; 504: it waited too long; 409: a user cancelled it. */
const statusOfResult: Readonly<Record<ResultState, number>> = {
  done: 200,
  pending: 202,
  failed: 400,
  expired: 504,
  cancelled: 409,
}

export function groupBanRoutes(service: StateService): readonly Route[] {
  return [
    route({
      ...aboutOne(groupNoun(service), 'write'),
      method: 'POST',
      path: '/v1/group/{id}/ban',
      operationId: 'banInGroup',
      summary:
        'Bans on all caches of the group by one expression or several; answered after 5 s at the latest, and goes on',
      ignoresUnknownKeys: true,
      body: Type.Object({
        expression: Type.Optional(Type.String({ description: 'As on the management port' })),
        expressions: Type.Optional(Type.Array(Type.String())),
      }),
      answers: { 200: banSchema },
      handle: async ({ context, actor, object: group, body }) => ({
        status: 200,
        body: toBanView(await banInGroup(service, { context, actor }, group, body)),
      }),
    }),
  ]
}

function toBanView({ entry, summary, results, agents }: GroupBanView): object {
  const { state, done, total } = summary
  return {
    id: entry.id,
    state,
    done,
    total,
    results: results.map(({ agent: { id, name }, state, error }) => {
      const agent = agents.get(id)
      return {
        cacheId: toObjectId('cache', id),
        name: agent ? toCacheView({ agent, group: null }).name : name,
        status: statusOfResult[state],
        message: error ?? '',
      }
    }),
  }
}
