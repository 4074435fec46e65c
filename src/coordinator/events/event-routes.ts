/** `/events`: live changes of everything that the caller may read (docs/behaviour.md, Events). */
import { Type } from 'typebox'
import { optInEventTypes, parseLastEventId, type OptInEventType } from '../../resources/event.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { readToken } from '../http/credentials.js'
import { route, type Route } from '../http/route.js'
import { findVisibleAgents } from '../agents/agents.js'
import type { EventHub } from './event-hub.js'
import type { SampledAgent } from './sample-streams.js'
import type { Authenticator } from '../identity/authenticate.js'
import type { StateService } from '../service.js'
import { askCache } from '../statistics/asked-caches.js'
import { eventDataSchema } from './event-views.js'
import { requireAccess } from '../api/references.js'

const errorKey = 'event'
/** Each of them is sampled every second. */
const maxLiveAgents = 100
const livePattern = /^[1-9]\d{0,14}(?:,[1-9]\d{0,14})*$/

interface EventParts {
  readonly service: StateService
  readonly hub: EventHub
  readonly authenticator: Authenticator
}

export function eventRoutes({ service, hub, authenticator }: EventParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/events',
      operationId: 'listenToEvents',
      summary:
        'Server-sent events: agent, deployment, invalidation, apilog, problem, sample. Last-Event-ID resumes within an hour, else comes reset',
      errorKey,
      permission: 'anyone',
      query: Type.Object(
        {
          also: Type.Optional(
            Type.String({
              description: `of ${optInEventTypes.join(', ')}, joined by commas: events of these come too, when one is created, edited or deleted`,
              examples: ['file,vclgroup'],
            }),
          ),
          live: Type.Optional(
            Type.String({
              description: `ids of agents, at most ${maxLiveAgents}: each second a sample of each comes too, as event sample without an id`,
              examples: ['1,2,3'],
            }),
          ),
        },
        { additionalProperties: false },
      ),
      answers: { 200: eventDataSchema },
      isStream: true,
      handle: async ({ actor, query, headers, sourceAddress }) => {
        const also = readAlso(query.also)
        const agents = await findLive(service, actor, query.live)
        const token = readToken(headers, 'bearer') ?? '' // the call was let in by it
        const { expiresAtMs } = await authenticator.recognize(token, sourceAddress)
        const given = headers['last-event-id']
        const lastEventId = parseLastEventId(Array.isArray(given) ? given.join() : given)
        const organization = await hub.requireRoom(actor, agents)
        const start = await hub.findStart(lastEventId)
        return {
          status: 200,
          stream: (connection) => {
            hub.listen({ actor, organization, start, also, agents, expiresAtMs }, connection)
          },
        }
      },
    }),
  ]
}

/** Returns the types of `also` in canonical order. Throws 'invalid' for others. */
function readAlso(also: string | undefined): readonly OptInEventType[] {
  if (also === undefined) return []
  const words = also.split(',')
  const unknown = words.find((word) => !optInEventTypes.some((type) => type === word))
  if (unknown !== undefined)
    throw new FleetError(
      'invalid',
      errorKey,
      `also has ${JSON.stringify(unknown)}; known are ${optInEventTypes.join(', ')}, joined by commas`,
    )
  return optInEventTypes.filter((type) => words.includes(type))
}

/** Returns the agents of `live`. Throws 'invalid' for others, 'forbidden' without permission. */
async function findLive(
  service: StateService,
  actor: Actor,
  live: string | undefined,
): Promise<readonly SampledAgent[]> {
  if (live === undefined) return []
  const ids = live.split(',').map(Number)
  if (!livePattern.test(live) || ids.length > maxLiveAgents)
    throw new FleetError(
      'invalid',
      errorKey,
      `live is ids of agents, at most ${maxLiveAgents}, joined by commas: live=1,2`,
    )
  for (const type of ['stats', 'agent'] as const) requireAccess(actor, type, 'read', errorKey)
  const agents = await findVisibleAgents(service, actor, ids)
  const found = new Set(agents.map(({ id }) => id))
  const missing = ids.find((id) => !found.has(id))
  if (missing !== undefined)
    throw new FleetError('invalid', errorKey, `live: there is no agent ${missing}`)
  return agents.map((agent) => ({ ...askCache(actor, agent), name: agent.name }))
}
