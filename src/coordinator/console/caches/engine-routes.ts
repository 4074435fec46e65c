/** `/v1/cache/{id}/…`: status and contents of a cache, and commands that users send to it. */
import { Type } from 'typebox'
import { route, type Route } from '../../http/route.js'
import { askAgentFor, sendCommand } from '../../engine/agent-questions.js'
import { requireTaken, setBackendHealth } from '../../engine/engine-settings.js'
import { readCacheStatus, readConsistency } from './cache-status.js'
import type { StateService } from '../../service.js'
import { asAgent, changingCache, readingCache } from './cache-object.js'
import {
  consistencySchema,
  responseSchema,
  statusSchema,
  toConsistencyView,
  toStatusView,
} from './cache-status-views.js'

export function cacheEngineRoutes(service: StateService): readonly Route[] {
  return [
    ...(['status', 'summary'] as const).map((word) =>
      route({
        ...readingCache(service),
        method: 'GET',
        path: `/v1/cache/{id}/${word}`,
        operationId: word === 'status' ? 'getCacheStatus' : 'getCacheSummary',
        summary: 'How the cache is; responseStatus 503 when it cannot be asked',
        answers: { 200: statusSchema },
        handle: async ({ context, actor, object }) => ({
          status: 200,
          body: toStatusView(await readCacheStatus(service, context, asAgent(actor, object))),
        }),
      }),
    ),
    route({
      ...readingCache(service),
      method: 'GET',
      path: '/v1/cache/{id}/consistency',
      operationId: 'getCacheConsistency',
      summary: 'Whether VCL and parameters are as they should be',
      answers: { 200: consistencySchema },
      handle: async ({ context, actor, object }) => ({
        status: 200,
        body: toConsistencyView(await readConsistency(service, context, asAgent(actor, object))),
      }),
    }),
    ...(['backends', 'bans'] as const).map((query) =>
      route({
        ...readingCache(service),
        method: 'GET',
        path: `/v1/cache/{id}/${query}`,
        operationId: query === 'backends' ? 'listCacheBackends' : 'listCacheBans',
        summary:
          query === 'backends'
            ? 'Backends with their health'
            : 'Bans that the cache still has to apply',
        answers: { 200: Type.Object({ list: Type.Array(Type.Object({})) }) },
        handle: async ({ context, actor, object }) => ({
          status: 200,
          listKey: 'list',
          body: await askAgentFor(service, context, asAgent(actor, object), { query }),
        }),
      }),
    ),
    ...changes(service),
  ]
}

function changes(service: StateService): readonly Route[] {
  return [
    route({
      ...changingCache(service),
      method: 'PUT',
      path: '/v1/cache/{id}/setbackend/{backend}/{health}',
      operationId: 'setCacheBackend',
      summary: 'Sets the health of a backend, and keeps it set: healthy, sick, auto (also: probe)',
      answers: { 200: responseSchema },
      handle: async ({ context, actor, object, params }) => {
        const { backend: name = '', health = '' } = params
        const caller = asAgent(actor, object)
        const answer = await setBackendHealth(service, context, caller, { name, health })
        const { backends, health: now } = requireTaken(answer, name)
        return {
          status: 200,
          body: { responseStatus: 200, responseString: `${backends.join(', ')}: ${now}` },
        }
      },
    }),
    route({
      ...changingCache(service),
      method: 'POST',
      path: '/v1/cache/{id}/engineadm',
      operationId: 'sendCacheCommand',
      summary:
        "Sends one of the allowed commands; those that set something are kept like the calls that do; answers the engine's words",
      bodyTypes: ['text', 'json'],
      textKey: 'command',
      bodyOptional: true,
      body: Type.Object({
        command: Type.String({ description: 'One line of the management port' }),
      }),
      ignoresUnknownKeys: true,
      answers: { 200: Type.Object({ message: Type.String() }) },
      handle: async ({ context, actor, object, body }) => {
        // An empty text arrives as an absent body.
        const { command = '' } = (body as Partial<typeof body> | undefined) ?? {}
        const message = await sendCommand(service, context, asAgent(actor, object), command)
        return { status: 200, body: { message } }
      },
    }),
  ]
}
