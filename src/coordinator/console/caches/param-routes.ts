/** `/v1/cache/{id}/params`: the parameters of a cache (docs/behaviour.md, Console caches). */
import { Type } from 'typebox'
import { route, type Route } from '../../http/route.js'
import { askAgentFor } from '../../engine/agent-questions.js'
import { requireTaken, setParameter } from '../../engine/engine-settings.js'
import type { StateService } from '../../service.js'
import { asAgent, changingCache, readingCache } from './cache-object.js'
import { parameterSchema, parameterSetSchema } from './cache-status-views.js'

export function cacheParamRoutes(service: StateService): readonly Route[] {
  return [
    route({
      ...readingCache(service),
      method: 'GET',
      path: '/v1/cache/{id}/params',
      operationId: 'listCacheParams',
      summary: 'All parameters of the cache by name',
      answers: { 200: parameterSetSchema },
      handle: async ({ context, actor, object }) => ({
        status: 200,
        body: await askAgentFor(service, context, asAgent(actor, object), { query: 'params' }),
      }),
    }),
    route({
      ...changingCache(service),
      method: 'PUT',
      path: '/v1/cache/{id}/params/{name}',
      operationId: 'setCacheParam',
      summary: 'Sets a parameter, and keeps it set',
      body: Type.Object({ value: Type.String({ description: 'As on the management port' }) }),
      ignoresUnknownKeys: true,
      answers: { 200: parameterSchema },
      handle: async ({ context, object: { agent }, params: { name = '' }, body: { value } }) => {
        const answer = await setParameter(service, context, agent, { name, value })
        return { status: 200, body: requireTaken(answer, name).parameter }
      },
    }),
    route({
      ...changingCache(service),
      method: 'DELETE',
      path: '/v1/cache/{id}/params/{name}',
      operationId: 'resetCacheParam',
      summary: 'Sets a parameter back to its default',
      answers: { 200: parameterSchema },
      handle: async ({ context, object: { agent }, params: { name = '' } }) => {
        const answer = await setParameter(service, context, agent, { name, value: null })
        return { status: 200, body: requireTaken(answer, name).parameter }
      },
    }),
  ]
}
